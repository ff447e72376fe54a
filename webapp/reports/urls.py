"""Addresses of reports."""

from django.urls import path

from webapp.reports import download, shared, views

app_name = "reports"
urlpatterns = [
    path("reports/", views.index, name="list"),
    path("reports/new/", views.new, name="new"),
    path("reports/by-link/<str:token>/", shared.detail, name="shared"),
    path("reports/by-link/<str:token>/<int:pk>", shared.numbers, name="shared_numbers"),
    path("reports/by-link/<str:token>/file", download.by_link, name="shared_file"),
    path("reports/<str:uid>/", views.detail, name="detail"),
    path("reports/<str:uid>/edit", views.change, name="change"),
    path("reports/<str:uid>/remove", views.remove, name="remove"),
    path("reports/<str:uid>/link", views.link, name="link"),
    path("reports/<str:uid>/file", download.own, name="file"),
    path("reports/<str:uid>/blocks/<int:pk>", views.numbers, name="numbers"),
]
