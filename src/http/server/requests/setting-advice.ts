import type { FastifyRequest } from 'fastify'

export interface AdviceServices {
  config: { readonly sandbox: boolean }
  now: () => Date
}

const NAMES_MAX = 100
const NAME_LENGTH_MAX = 40
const HOUR_MS = 3_600_000
/** What may be a misplaced key, or the password of an address. */
const SECRET = /[0-9a-f]{32}|@/i

/**
 * Returns the function for a name that a client uses and the list `setting` lacks. It logs the name with the setting: each name once
 * an hour, at most 100 names in an hour, cut to 40 characters. It returns what the answer adds: the advice in a sandbox, whose
 * operator reads it; elsewhere nothing.
 */
export function settingAdvice({ config, now }: AdviceServices, setting: 'REST_PREFIXES' | 'SOAP_NAMESPACES') {
  /** When each name was logged, the oldest first. */
  const loggedAt = new Map<string, number>()

  return ({ log }: FastifyRequest, name: string): string => {
    if (SECRET.test(name)) return ''
    const shown = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX - 1)}…` : name
    const at = now().getTime()
    for (const [each, since] of loggedAt) {
      if (at - since < HOUR_MS) break
      loggedAt.delete(each)
    }
    if (!loggedAt.has(shown) && loggedAt.size < NAMES_MAX) {
      loggedAt.set(shown, at)
      log.warn({ name: shown, setting }, 'a client uses a name that is not served; add it to the setting to serve it')
    }
    return config.sandbox ? `. To serve ${shown}, add it to ${setting}` : ''
  }
}
