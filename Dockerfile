# `npm run image` builds this and tries it. Node of exactly the version that the packages name for machines without one. To pin it to the byte, or to take it from a
# registry of your own: --build-arg BASE=registry.example.com/node:24.21.0-bookworm-slim@sha256:…
ARG BASE=node:24.21.0-bookworm-slim

# Installs what the lock file names, builds the pages, and puts together what is needed to run.
FROM ${BASE} AS build
WORKDIR /app
COPY . .
# `--without-postgres` leaves out the built-in PostgreSQL (59 MB), for installations that have their own.
ARG COLLECT=
RUN npm run build && node scripts/image/collect.ts /out ${COLLECT}

# The system without npm, which nothing needs any more, and without what it has for people at a terminal.
FROM ${BASE} AS system
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/share /opt/yarn* /usr/local/bin/npm /usr/local/bin/npx \
      /usr/local/bin/corepack /usr/local/bin/yarn* /usr/share/doc /usr/share/man /usr/share/info /usr/share/locale /var/cache/* \
      /var/lib/apt/lists/* /var/log/* /root/.npm /tmp/* \
    && echo 'assay:x:10001:10001:Assay:/data:/usr/sbin/nologin' >> /etc/passwd && echo 'assay:x:10001:' >> /etc/group \
    && mkdir -p /data && chown 10001:10001 /data

# One layer for the system and one for the service. Files that were removed above are in none.
FROM scratch
COPY --from=system / /
COPY --from=build /out /app
WORKDIR /app
# The last one as in bin/assay, for a container that is given one processor; with a read-only file system, mount something at /tmp and at /data.
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOST=0.0.0.0 PORT=3000 DATA_DIR=/data LOG_FORMAT=json \
    NODE_COMPILE_CACHE=/tmp/compile NODE_OPTIONS=--v8-pool-size=1
USER 10001:10001
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:3000/readyz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# It becomes Node, which gets the signals; npm would stay in memory beside it.
ENTRYPOINT ["/app/bin/assay"]
CMD ["start"]
