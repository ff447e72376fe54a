"""Addresses of alerts."""

from django.urls import path

from webapp.alerts import rule_views, telling_views, views

app_name = "alerts"
_project = "projects/<slug:slug>/alerts/"
urlpatterns = [
    path("alerts/new", views.new, name="new"),
    path(_project, views.page, name="page"),
    path(_project + "rules/new/<str:kind>", rule_views.add, name="add_rule"),
    path(_project + "rules/preview/<str:kind>", rule_views.preview, name="preview"),
    path(_project + "rules/<int:pk>/", rule_views.change, name="rule"),
    path(_project + "rules/<int:pk>/switch", rule_views.switch, name="switch_rule"),
    path(_project + "rules/<int:pk>/remove", rule_views.remove, name="remove_rule"),
    path(_project + "channels/", telling_views.add_channel, name="add_channel"),
    path(_project + "channels/<int:pk>/", telling_views.change_channel, name="channel"),
    path(_project + "channels/<int:pk>/test", telling_views.test_channel, name="test_channel"),
    path(_project + "channels/<int:pk>/remove", telling_views.remove_channel, name="remove_channel"),
    path(_project + "silences/", telling_views.add_silence, name="add_silence"),
    path(_project + "silences/<int:pk>/end", telling_views.end_silence, name="end_silence"),
]
