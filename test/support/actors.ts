import type { Actor } from '../../src/access/audit/audit.ts'

/** The operator, for tests that prepare something behind the front door. */
export const operator: Actor = { kind: 'operator', name: '', address: '' }
