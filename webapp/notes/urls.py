"""Addresses of notes."""

from django.urls import path

from webapp.notes import views

app_name = "notes"
urlpatterns = [
    path("runs/<str:uid>/notes", views.part, name="part"),
    path("runs/<str:uid>/notes/write", views.write, name="write"),
    path("runs/<str:uid>/comments", views.comment, name="comment"),
    path("runs/<str:uid>/comments/<int:pk>/edit", views.edit, name="edit"),
    path("runs/<str:uid>/comments/<int:pk>/delete", views.delete, name="delete"),
    path("mentions/", views.mentions, name="mentions"),
]
