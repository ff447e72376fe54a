"""Addresses of projects."""

from django.urls import path

from webapp.projects import token_views, views

app_name = "projects"
urlpatterns = [
    path("", views.index, name="list"),
    path("<slug:slug>/", views.detail, name="detail"),
    path("<slug:slug>/tokens/", token_views.tokens, name="tokens"),
    path("<slug:slug>/tokens/<int:pk>/revoke", token_views.revoke, name="revoke_token"),
    path("<slug:slug>/price", views.set_price, name="price"),
    path("<slug:slug>/lost-nodes", views.set_lost_node_limit, name="lost_nodes"),
    path("<slug:slug>/members/", views.add_member, name="add_member"),
    path("<slug:slug>/members/<int:pk>/role", views.change_role, name="change_role"),
    path("<slug:slug>/members/<int:pk>/remove", views.remove_member, name="remove_member"),
]
