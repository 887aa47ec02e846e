import { StartupError } from '../../foundation/process/startup-error.ts'
import { openPrompt } from '../new-store/prompt.ts'
import type { SourceKeys } from './source.ts'

/**
 * Reads the source's keys from the environment and asks for missing ones. Without MIGRATE_PRIVATE_KEY the token is an access token.
 * Throws StartupError if a key is missing and nobody answers.
 */
export async function readKeys(environment: NodeJS.ProcessEnv, address: string): Promise<SourceKeys> {
  const given = (name: string) => environment[name]?.trim() || null
  const prompt = openPrompt()
  const need = async (name: string, question: string, hidden = true) => {
    const value = given(name) ?? (await prompt.ask(`${question}: `, { hidden }))?.trim()
    if (!value) throw new StartupError(`${name} is missing: give it in the environment, or answer the question`)
    return value
  }
  try {
    const token = await need('MIGRATE_TOKEN', 'Token, or access token')
    const isBearer = given('MIGRATE_PRIVATE_KEY') === null && given('MIGRATE_SECURE_URL') === null
    const asked =
      isBearer && prompt.isTerminal
        ? await prompt.ask('Private key (empty: the token is an access token): ', { hidden: true })
        : ''
    const privateKey = given('MIGRATE_PRIVATE_KEY') ?? (asked?.trim() || null)
    const secureUrl =
      privateKey === null ? null : await need('MIGRATE_SECURE_URL', 'Address of the store there (SecureURL)', false)
    return { address, privateKey, token, secureUrl }
  } finally {
    prompt.close()
  }
}

/** Asks whether to go on. False: no, or nobody is at a terminal. */
export async function confirm(question: string): Promise<boolean> {
  const prompt = openPrompt()
  try {
    return prompt.isTerminal && /^y(es)?$/i.test((await prompt.ask(`${question} (y or n): `)) ?? '')
  } finally {
    prompt.close()
  }
}
