"""Settings: read once from the environment, typed, failing loudly. Each is described in docs/settings.md.

Every secret may also come from a file: `SECRET_KEY_FILE=/run/secrets/key`.
"""

from ipaddress import ip_network
from pathlib import Path

from environ import FileAwareEnv
from redis.backoff import NoBackoff
from redis.retry import Retry

from trainer_agent.wire import names

env = FileAwareEnv()
BASE_DIR = Path(__file__).resolve().parent.parent

# ---- where things live
HOME_DIR = Path(env.str("PACELINE_HOME", default=str(BASE_DIR / ".paceline"))).expanduser().resolve()
DATABASE_URL = env.str("DATABASE_URL", default=f"sqlite:///{HOME_DIR / 'paceline.sqlite3'}")
REDIS_URL = env.str("REDIS_URL", default="redis://127.0.0.1:6379/0")
# What a node is told to connect to; the server's own address when empty.
NODE_REDIS_URL = env.str("NODE_REDIS_URL", default="")
PUBLIC_URL = env.str("PUBLIC_URL", default="http://127.0.0.1:8000")

# ---- security
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="" if not DEBUG else "insecure-debug-key")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", default=0) if HTTPS else 0
# The proxy that speaks https also redirects to it; a probe of /healthz comes over http.
SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W005", "security.W008", "security.W021"]
BEHIND_PROXY = env.bool("BEHIND_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
CSRF_FAILURE_VIEW = "webapp.error_pages.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

# ---- run rules
RENDEZVOUS_PORTS = tuple(env.list("RENDEZVOUS_PORTS", cast=int, default=[29500, 29999]))
UNREACHABLE_AFTER_S = env.float("UNREACHABLE_AFTER_S", default=15.0)
LOST_NODE_LIMIT_S = env.float("LOST_NODE_LIMIT_S", default=600.0)
UPLOAD_LIMIT_MB = env.int("UPLOAD_LIMIT_MB", default=256)
# Names of nodes without which /healthz does not answer 200; `manage.py up` names its local ones.
LOCAL_NODES = env.list("LOCAL_NODES", default=[])

# ---- alerts
EMAIL_URL = env.str("EMAIL_URL", default="")
EMAIL_FROM = env.str("EMAIL_FROM", default="paceline@localhost")
# Whether webhooks may go to private, loopback and link-local addresses.
ALLOW_PRIVATE_WEBHOOKS = env.bool("ALLOW_PRIVATE_WEBHOOKS", default=False)

# ---- Prometheus
# Addresses or networks that read all of /metrics without a token.
METRICS_OPEN_TO = [ip_network(one) for one in env.list("METRICS_OPEN_TO", default=[])]

# ---- Django
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "django_htmx",
    "ninja",
    "webapp.accounts",
    "webapp.language",
    "webapp.projects",
    "webapp.audit",
    "webapp.invitations",
    "webapp.nodes",
    "webapp.runs",
    "webapp.telemetry",
    "webapp.history",
    "webapp.provenance",
    "webapp.artifacts",
    "webapp.incidents",
    "webapp.preflight",
    "webapp.alerts",
    "webapp.sweeps",
    "webapp.reports",
    "webapp.exports",
    "webapp.imports",
    "webapp.notes",
    "webapp.sharing",
    "webapp.palette",
    "webapp.live",
    "webapp.api",
    "webapp.supervisor",
]
MIDDLEWARE = [
    "webapp.prometheus.measured.Measured",
    "django.middleware.security.SecurityMiddleware",
    "webapp.content_policy.ContentPolicy",
    "webapp.streaming.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "webapp.language.profile.ProfileLanguage",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "webapp.database_busy.DatabaseBusy",
]
ROOT_URLCONF = "webapp.urls"
ASGI_APPLICATION = "webapp.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "runs:list"
LOGOUT_REDIRECT_URL = "account_login"
AUTHENTICATION_BACKENDS = [
    "allauth.account.auth_backends.AuthenticationBackend",
    "django.contrib.auth.backends.ModelBackend",  # sessions from before allauth name it
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# ---- people: login, password reset, two-factor, OpenID Connect (django-allauth)
ACCOUNT_ADAPTER = "webapp.accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {"login": "webapp.accounts.forms.LoginForm", "signup": "webapp.accounts.forms.SignupForm"}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # who signs up was invited
ACCOUNT_EMAIL_NOTIFICATIONS = bool(EMAIL_URL)
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if HTTPS else "http"
ACCOUNT_SESSION_REMEMBER = True
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if BEHIND_PROXY else 0
MFA_ADAPTER = "webapp.accounts.adapter.MfaAdapter"
MFA_FORMS = {
    "authenticate": "webapp.accounts.second_factor_forms.Code",
    "reauthenticate": "webapp.accounts.second_factor_forms.CodeAgain",
    "authenticate_webauthn": "webapp.accounts.second_factor_forms.Key",
    "reauthenticate_webauthn": "webapp.accounts.second_factor_forms.KeyAgain",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Paceline"
MFA_TOTP_TOLERANCE = 1  # the code before and after, for clocks that are a little off
MFA_ALLOW_UNVERIFIED_EMAIL = True  # a server without e-mail verifies none
SOCIALACCOUNT_ADAPTER = "webapp.accounts.adapter.SocialAdapter"
# The provider was chosen by who runs the server, so the addresses that it has verified say whose account it is.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
OIDC_NAME = env.str("OIDC_NAME", default="Single sign-on")
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "oidc",
                "name": OIDC_NAME,
                "client_id": env.str("OIDC_CLIENT_ID"),
                "secret": env.str("OIDC_CLIENT_SECRET"),
                "settings": {"server_url": OIDC_ISSUER},
            }
        ]
        if OIDC_ISSUER
        else [],
    }
}

DATABASES = {"default": env.db_url_config(DATABASE_URL)}
DATABASES["default"]["ATOMIC_REQUESTS"] = False
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # WAL lets readers go on while one writes; IMMEDIATE takes the write lock at BEGIN, so that no
    # transaction fails half-way when it turns from reader to writer. Blocks of numbers are cheaper on big pages; a
    # database that is there keeps its own.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA page_size=16384; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000;"
            "PRAGMA mmap_size=134217728; PRAGMA journal_size_limit=67108864;"
        ),
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
CACHES = {
    "default": {
        "BACKEND": "webapp.shared_cache.SharedCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": names.cache(),
        "OPTIONS": {
            "serializer": "webapp.shared_cache.JsonValues",
            "socket_timeout": 2,
            "socket_connect_timeout": 1,
            "retry": Retry(NoBackoff(), 0),
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

_email = env.email_url_config(EMAIL_URL or "dummymail://")
EMAIL_BACKEND = _email["EMAIL_BACKEND"]
EMAIL_HOST, EMAIL_PORT = _email["EMAIL_HOST"], _email["EMAIL_PORT"]
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _email["EMAIL_HOST_USER"], _email["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS, EMAIL_USE_SSL = _email.get("EMAIL_USE_TLS", False), _email.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = EMAIL_FROM

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("pt-br", "Português (Brasil)")]
LOCALE_PATHS = [BASE_DIR / "webapp" / "locale"]
USE_I18N = True
USE_THOUSAND_SEPARATOR = True
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = HOME_DIR / "static"
# The charts' library as static/vendor/plotly-cartesian.min.js, no CDN: npm's plotly.js-cartesian-dist-min, which a
# browser reads in less than half the time of the whole plotly.js. Straight from webapp/vendor, or from where `up` has
# put it with a packed copy (webapp/supervisor/packed_static.py).
LIBRARY_DIR = BASE_DIR / "webapp" / "vendor"
VENDOR_DIR = HOME_DIR / "vendor"
_VENDOR = [VENDOR_DIR] if VENDOR_DIR.is_dir() else []
STATICFILES_DIRS = [
    BASE_DIR / "webapp" / "static",
    *(("vendor", folder) for folder in (*_VENDOR, LIBRARY_DIR)),
]
WHITENOISE_USE_FINDERS = True
MEDIA_ROOT = HOME_DIR / "media"
# ---- artifacts: files that belong to runs, in a folder or in a bucket
ARTIFACT_LIMIT_MB = env.int("ARTIFACT_LIMIT_MB", default=5_120)
ARTIFACT_BUCKET = env.str("ARTIFACT_BUCKET", default="")
_BUCKET = {
    "BACKEND": "webapp.artifacts.bucket.Bucket",
    "OPTIONS": {
        "bucket_name": ARTIFACT_BUCKET,
        "location": env.str("ARTIFACT_PREFIX", default=""),
        "endpoint_url": env.str("ARTIFACT_ENDPOINT", default="") or None,
        "region_name": env.str("ARTIFACT_REGION", default="") or None,
        "access_key": env.str("ARTIFACT_ACCESS_KEY", default="") or None,
        "secret_key": env.str("ARTIFACT_SECRET_KEY", default="") or None,
    },
}
_FOLDER = {
    "BACKEND": "webapp.artifacts.folder.Folder",
    "OPTIONS": {"location": HOME_DIR / "artifacts", "file_permissions_mode": 0o600},
}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "artifacts": _BUCKET if ARTIFACT_BUCKET else _FOLDER,
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 5_000  # a folder of code

# ---- Celery: short acts only; the database row is the truth, so a lost task is found by a sweep
CELERY_BROKER_URL = REDIS_URL
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "paceline"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a Redis that is away for an hour costs an hour, not the worker
# No acknowledgements: kombu would send them over a connection that Redis has closed, and the worker would end.
CELERY_BROKER_TRANSPORT_OPTIONS = {"ack_emulation": False, "socket_timeout": 10, "socket_connect_timeout": 3}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_TIME_LIMIT = 120
CELERY_BEAT_SCHEDULER = "workers.beat:AliveScheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "workers.dispatch.sweep", "schedule": 2.0, "options": {"expires": 10}},
    "heartbeats": {"task": "workers.housekeeping.read_heartbeats", "schedule": 2.0, "options": {"expires": 10}},
    "watch": {"task": "workers.watch.look", "schedule": 2.0, "options": {"expires": 4}},
    "alerts": {"task": "workers.notify.evaluate", "schedule": 5.0, "options": {"expires": 10}},
    "exports": {"task": "workers.exports.turn", "schedule": 5.0, "options": {"expires": 4}},
    "sweeps": {"task": "workers.sweeps.turn", "schedule": 2.0, "options": {"expires": 4}},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(HOME_DIR / "celerybeat-schedule")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "webapp.log_masks.MaskedFormatter", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {"httpx": {"level": "WARNING"}},
}
