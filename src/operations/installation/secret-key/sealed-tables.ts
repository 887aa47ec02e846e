/** A table with secrets that their owners must be able to see again. */
export interface SealedTable {
  readonly table: string
  /** The primary key, all whole numbers. */
  readonly key: readonly string[]
  /** Each holds a sealed secret, or NULL. */
  readonly sealed: readonly string[]
  /** The look-up form of the first of them. */
  readonly hash?: string
}

/**
 * All of them but the answers that are kept for Idempotency-Keys: those live for a day. The start checks them, and
 * `npm run rotate-secret-key` seals them anew.
 */
export const sealedTables: readonly SealedTable[] = [
  {
    table: 'Application',
    key: ['id'],
    sealed: ['privateKeySealed', 'callbackSecretSealed', 'formerCallbackSecretSealed'],
    hash: 'privateKeyHash',
  },
  { table: 'Subscription', key: ['id'], sealed: ['tokenSealed'], hash: 'tokenHash' },
  { table: 'AccessToken', key: ['id'], sealed: ['tokenSealed'], hash: 'tokenHash' },
  { table: 'AccessGrant', key: ['id'], sealed: ['tokenSealed'], hash: 'tokenHash' },
  { table: 'Identity', key: ['id'], sealed: ['totpSealed'] },
  { table: 'RecoveryCode', key: ['id'], sealed: ['codeSealed'], hash: 'codeHash' },
  { table: 'Handshake', key: ['storeId', 'applicationId'], sealed: ['tokenSealed'] },
  { table: 'CsvImportLine', key: ['storeId', 'importId', 'line'], sealed: ['sealed'] },
  { table: 'CsvImportPart', key: ['storeId', 'importId', 'part'], sealed: ['sealed'] },
  { table: 'RemovalNotice', key: ['id'], sealed: ['bodySealed'] },
  { table: 'Erasure', key: ['storeId', 'id'], sealed: ['wordsSealed'] },
  { table: 'Mail', key: ['id'], sealed: ['contentSealed'] },
  { table: 'InboxMessage', key: ['id'], sealed: ['sealed'] },
  { table: 'Webhook', key: ['storeId', 'id'], sealed: ['secretSealed', 'formerSecretSealed'] },
  { table: 'Store', key: ['id'], sealed: ['userKeySealed'], hash: 'userKeyHash' },
]
