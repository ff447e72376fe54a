"""A person's chosen language goes before that of the browser."""

from contextlib import suppress

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin

from webapp.accounts.models import User
from webapp.database_busy import BUSY


class ProfileLanguage(MiddlewareMixin):
    """After the session's user is known. What `LocaleMiddleware` found stays for who has chosen nothing."""

    def process_request(self, request: HttpRequest) -> None:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return
        with suppress(*BUSY):  # the view may need no database, or says that it is away
            if isinstance(request.user, User) and request.user.language:
                translation.activate(request.user.language)
                request.LANGUAGE_CODE = translation.get_language()
