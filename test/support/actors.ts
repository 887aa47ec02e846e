import type { Actor } from '../../src/audit/audit.ts'

/** The operator, for tests that prepare something behind the front door. */
export const operator: Actor = { kind: 'operator', name: '', address: '' }
