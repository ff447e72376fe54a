"""Addresses of history."""

from django.urls import path

from webapp.history import views

app_name = "history"
urlpatterns = [
    path("history/complete", views.complete, name="complete"),
    path("history/keys", views.names, name="keys"),
    path("history/act", views.act, name="bulk"),
    path("history/undo", views.undo, name="undo"),
    path("history/views/<int:pk>/remove", views.drop_view, name="drop_view"),
    path("projects/<slug:slug>/views", views.save_view, name="save_view"),
]
