FROM python:3.11-slim AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src

# Dependencies first: this layer is rebuilt only when a pin changes.
COPY requirements/build.txt requirements/server.txt requirements/
RUN pip install --require-hashes -r requirements/build.txt \
    && python -m venv /opt/spanwise \
    && /opt/spanwise/bin/python -m pip install --require-hashes -r requirements/server.txt

COPY pyproject.toml README.md LICENSE ./
COPY client client
COPY server server
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /tmp/dist . \
    && /opt/spanwise/bin/python -m pip install --no-deps /tmp/dist/*.whl


FROM python:3.11-slim

RUN useradd --system --uid 10001 --no-create-home spanwise \
    && install --directory --owner=spanwise --group=spanwise /data
COPY --from=build /opt/spanwise /opt/spanwise

# A container is reached from outside it, so the server listens on every address.
ENV PATH=/opt/spanwise/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SPANWISE_DATABASE_URL=sqlite:////data/spanwise.db \
    SPANWISE_GRPC_ADDRESS=0.0.0.0:8089 \
    SPANWISE_HTTP_ADDRESS=0.0.0.0:8088

USER spanwise
WORKDIR /data
VOLUME /data
EXPOSE 8089 8088

ENTRYPOINT ["spanwise"]
CMD ["serve"]
