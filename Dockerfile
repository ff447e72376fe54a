# Two images from one file: `server` (web, worker, beat, ingest; no torch) and `agent` (a node, with torch).

FROM python:3.11-slim AS server
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN useradd --create-home --uid 10001 paceline && mkdir /data && chown paceline /data
WORKDIR /app
COPY pyproject.toml constraints.txt ./
# The server never imports torch, which is larger than all the rest together.
RUN python -c "import tomllib; wanted = tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']; print(*(name for name in wanted if name != 'torch'), sep='\n')" > requirements.txt \
    && pip install -c constraints.txt -r requirements.txt
COPY manage.py ./
COPY webapp webapp
COPY workers workers
COPY trainer_agent trainer_agent
COPY templates templates
ENV PACELINE_HOME=/data
USER paceline
EXPOSE 8000

FROM python:3.11-slim AS agent
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 paceline && mkdir /data && chown paceline /data
COPY constraints.txt /tmp/
RUN pip install -c /tmp/constraints.txt torch numpy
COPY trainer_agent /tmp/trainer_agent
COPY examples /examples
RUN pip install -c /tmp/constraints.txt /tmp/trainer_agent
USER paceline
WORKDIR /data
