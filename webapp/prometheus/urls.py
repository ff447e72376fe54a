"""The address that Prometheus asks."""

from django.urls import path

from webapp.prometheus.views import metrics

urlpatterns = [path("metrics", metrics, name="prometheus")]
