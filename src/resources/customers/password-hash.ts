import { z } from 'zod'
import { text, type ValueField } from '../../engine/fields.ts'

/** Upper bounds of the cost of one sign-in: 1 GiB of memory, 100 passes, 16 lanes. */
const MEMORY_KIB_MAX = 1_048_576
const PASSES_MAX = 100
const LANES_MAX = 16

const form = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,86}$/

const allowed = `must be an argon2id hash ($argon2id$v=19$m=…,t=…,p=…$salt$hash) with m up to ${MEMORY_KIB_MAX}, t up to ${PASSES_MAX} and p up to ${LANES_MAX}, or empty`

/** A customer's password hash in export and import: the text form of argon2id, or empty for none. */
export const passwordHash: ValueField = {
  ...text(255, { column: 'passwordHash', nullable: true }),
  schema: z.string(allowed).refine((given) => given === '' || isArgon2id(given), allowed),
}

function isArgon2id(given: string): boolean {
  const [, memory = 0, passes = 0, lanes = 0] = form.exec(given)?.map(Number) ?? []
  return (
    lanes >= 1 &&
    lanes <= LANES_MAX &&
    passes >= 1 &&
    passes <= PASSES_MAX &&
    memory >= 8 * lanes &&
    memory <= MEMORY_KIB_MAX
  )
}
