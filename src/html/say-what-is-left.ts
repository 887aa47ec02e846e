import { StoreFailure } from '../values/failure.ts'

/**
 * For `catch`: passes a failure on; one of an application that did not confirm gets, after contract §6's `Server not
 * Responding`, what a merchant can do about it.
 */
export function sayWhatIsLeft(error: unknown): never {
  if (!(error instanceof StoreFailure) || error.kind !== 'bad-gateway') throw error
  const advice = 'The application did not confirm, so nothing was changed. Try again later, or ask its developer.'
  throw new StoreFailure('bad-gateway', `${error.message}. ${advice}`)
}
