import { execute, type StoreReader } from './client.ts'

/**
 * The advisory locks of this application. The numbers are arbitrary, but never change: two versions may run on one database.
 * A lock of two keys begins with its number here; the second key is the one named, or 0.
 */
export const locks = {
  /** By store: deletions of records that refer to one another in their documents, which could deadlock. */
  deletions: 7_301_401,
  /** By store: moves in the tree of categories, two of which could form a cycle. */
  categoryTree: 7_301_402,
  /** By store: new webhooks, whose number is bounded. */
  newWebhooks: 7_301_406,
  /** By store: records that CSV files have made by naming them, so that two files make each name once. */
  csvNames: 7_301_416,
  /** Numbering of events. */
  numbering: 7_301_407,
  /** By number of the process, held while it lives (process-lock.ts). */
  process: 7_301_408,
  /** A scheduled backup. */
  backup: 7_301_409,
  /** The file of those who were erased, beside the backups. */
  erasedIds: 7_301_424,
  /** By number of a secret key, held by the processes that read it (secret-key/keys-in-use.ts). */
  readableKey: 7_301_410,
  /** By number of a secret key, held by the processes that store under it. */
  writtenKey: 7_301_411,
  /** By hash of an e-mail address in lower case: mails to it, whose number is bounded. Of the three, each transaction takes this one first. */
  mailAddress: 7_301_412,
  /** By hash of a network: mails that it causes. */
  mailNetwork: 7_301_413,
  /** By store: its mails. */
  mailStore: 7_301_414,
  /** By store: mails of its orders, whose number is bounded by the day. */
  orderMails: 7_301_417,
  /** By hash of an e-mail address in lower case: links for a new password; before those of mails. */
  resetLinks: 7_301_415,
  /** Keys that are brought along: of any number at once, each sees those before it. */
  broughtKeys: 7_301_416,
  /** What moves old rows into the archive. */
  archive: 7_301_421,
  /** Deletion of rows of a ledger; shared by those who delete rows of records that they have locked. */
  ledger: 7_301_422,
  /** By store: closing a time of its payments; shared by what writes them ("bookPayments" has the number too). */
  paymentLedger: 7_301_423,
  /** One key: migrations. */
  migrations: 7_420_311,
  /** One key: the process that uses the folder of the embedded database, held while it lives. */
  folder: 7_420_312,
  /** One key: the creation of the sandbox. */
  sandbox: 7_420_313,
} as const

/** Takes a lock of the store until the transaction ends. */
export async function lockInStore({ db, store }: StoreReader, lock: number): Promise<void> {
  await execute(db)`SELECT pg_advisory_xact_lock(${lock}::int, ${store.id}::int)`
}
