/** The limits of a client's transactions, and of its statements outside one. */
export interface Limits {
  /** Waiting for a lock. */
  readonly lockMs: number
  /** A statement of a transaction. */
  readonly statementMs: number
  /** The longest pause between two statements of a transaction; then PostgreSQL ends the session, since its process may be gone. */
  readonly idleMs: number
  /** A transaction as a whole, waits included. */
  readonly transactionMs: number
  /** A statement outside a transaction; it changes one row, or none. */
  readonly singleMs: number
}

/** Clients of the API give up after 30 to 60 s. */
export const requestLimits: Limits = {
  lockMs: 5_000,
  statementMs: 30_000,
  idleMs: 30_000,
  transactionMs: 60_000,
  singleMs: 10_000,
}

/** For imports, exports, deliveries and what is deleted by age. */
export const backgroundLimits: Limits = {
  lockMs: 60_000,
  statementMs: 600_000,
  idleMs: 600_000,
  transactionMs: 60_000,
  singleMs: 90_000,
}
