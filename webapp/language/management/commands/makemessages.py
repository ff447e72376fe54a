"""Django's `makemessages`, which also sees the name that tables of sentences use for `gettext_lazy`."""

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=_lazy"]
