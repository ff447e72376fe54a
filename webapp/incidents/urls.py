"""Addresses of what explains a slow or stuck job."""

from django.urls import path

from webapp.incidents import dump_views

app_name = "incidents"
urlpatterns = [
    path("dumps/", dump_views.dumps, name="dumps"),
]
