from django.urls import path

from webapp.language import views

app_name = "language"
urlpatterns = [path("language", views.choose, name="choose")]
