"""Addresses of comparisons."""

from django.urls import path

from webapp.compare import views

app_name = "compare"
urlpatterns = [
    path("compare/", views.index, name="page"),
    path("compare/curve", views.curve, name="curve"),
    path("compare/phases", views.phases, name="phases"),
    path("compare/scaling", views.scaling, name="scaling"),
    path("compare/values", views.values, name="values"),
    path("compare/names", views.names, name="names"),
    path("compare/summary", views.summary, name="summary"),
    path("compare/config", views.config, name="config"),
]
