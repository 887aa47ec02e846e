import type { Db } from '../../foundation/database/client.ts'
import { inBatches, type Sweep } from '../../foundation/database/sweeper.ts'
import type { Files } from '../../foundation/files/files.ts'
import { filesOfPicture } from './pictures.ts'

const DAY_MS = 86_400_000
const BATCH_MAX = 100

/** Looks for each picture once a day in all texts of its store, and deletes those that none has said for a day. */
export function pictureSweep({ db, now, files }: { db: Db; now: () => Date; files: Files }): Sweep {
  return async (isStopping) => {
    await files.tidy()
    return inBatches(isStopping, true, async () => {
      const dayAgo = new Date(now().getTime() - DAY_MS)
      const seen = await db.$queryRaw<{ storeId: number; name: string; isUnused: boolean }[]>`
        UPDATE "Picture" p SET "seenAt" = ${now()}, "unusedSince" = CASE WHEN "isUsed" THEN NULL ELSE coalesce(p."unusedSince", ${now()}) END
        FROM (SELECT "storeId", "name" FROM "Picture" WHERE "seenAt" <= ${dayAgo} ORDER BY "seenAt" LIMIT ${BATCH_MAX}::int
          FOR UPDATE SKIP LOCKED) old
        CROSS JOIN LATERAL (SELECT "isPictureUsed"(old."storeId", old."name") AS "isUsed" OFFSET 0) looked
        WHERE p."storeId" = old."storeId" AND p."name" = old."name"
        RETURNING p."storeId", p."name", coalesce(p."unusedSince" <= ${dayAgo}, false) AS "isUnused"`
      for (const { storeId, name, isUnused } of seen) {
        if (!isUnused) continue
        // An upload of the same content waits for the row, and stores the files again.
        await db.$transaction(async (tx) => {
          const gone = await tx.picture.deleteMany({ where: { storeId, name, unusedSince: { lte: dayAgo } } })
          if (gone.count > 0) for (const path of filesOfPicture(storeId, name)) await files.remove(path)
        })
      }
      return seen.length < BATCH_MAX ? null : true
    })
  }
}
