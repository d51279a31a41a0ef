# syntax=docker/dockerfile:1
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/ ./starter ./worker

FROM debian:bookworm-20251229-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates catdoc ghostscript poppler-utils tesseract-ocr tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --create-home --home-dir /var/lib/gleaner gleaner
COPY --from=build /out/starter /out/worker /usr/local/bin/
# A new volume takes the owner of the folder that it is mounted on.
VOLUME /var/lib/gleaner
WORKDIR /var/lib/gleaner
ENV GLEANER_DATA_DIR=/var/lib/gleaner
USER gleaner
# Readers of documents run as children: somebody has to reap them.
ENTRYPOINT ["tini", "--"]
CMD ["worker"]
