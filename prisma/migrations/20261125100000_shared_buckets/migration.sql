-- Neither table is written to PostgreSQL's log, because both hold what is true for seconds: a crash empties them, and a
-- standby has none of their rows.

-- A statement updates a row in its page, without an index to change.
CREATE UNLOGGED TABLE "RateBucket" (
    "key" TEXT NOT NULL,
    "before" BIGINT NOT NULL,
    "atMs" BIGINT NOT NULL,
    "asked" INTEGER NOT NULL,
    "most" BIGINT NOT NULL,
    "leakPerMs" BIGINT NOT NULL,
    "added" BIGINT NOT NULL,

    CONSTRAINT "RateBucket_pkey" PRIMARY KEY ("key")
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE UNLOGGED TABLE "ServerProcess" (
    "id" TEXT NOT NULL,
    "seenAt" TIMESTAMPTZ(3) NOT NULL,
    "countsAlone" BOOLEAN NOT NULL,

    CONSTRAINT "ServerProcess_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 50);
