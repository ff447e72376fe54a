"""Addresses of artifacts."""

from django.urls import path

from webapp.artifacts import views

app_name = "artifacts"
urlpatterns = [
    path("runs/<str:uid>/artifacts", views.index, name="list"),
    path("runs/<str:uid>/artifacts/add", views.add, name="add"),
    path("runs/<str:uid>/artifacts/<int:pk>", views.content, name="content"),
    path("runs/<str:uid>/artifacts/<int:pk>/delete", views.delete, name="delete"),
]
