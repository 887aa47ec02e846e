import { existsSync } from 'node:fs'
import { programs15 } from '../../test/support/postgres-15.ts'

export const patroni = '/usr/bin/patroni'
export const etcd = '/usr/bin/etcd'
export const haproxy = '/usr/sbin/haproxy'
export const pgbouncer = '/usr/sbin/pgbouncer'

const needed: Readonly<Record<string, string>> = {
  'postgresql-15': `${programs15}/postgres`,
  patroni,
  'python3-etcd': '/usr/lib/python3/dist-packages/etcd/__init__.py',
  'etcd-server': etcd,
  haproxy,
  pgbouncer,
}

/** Returns what to do where packages are missing; null: nothing is. */
export function missingPackages(): string | null {
  const missing = Object.entries(needed).flatMap(([name, file]) => (existsSync(file) ? [] : [name]))
  if (missing.length === 0) return null
  return `npm run test:cluster needs Debian's packages ${Object.keys(needed).join(', ')}. Missing here: ${missing.join(', ')}. Install them, without their default services: apt-get install --no-install-recommends ${missing.join(' ')}`
}
