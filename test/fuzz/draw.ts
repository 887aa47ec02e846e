import { SimpleFaker } from '@faker-js/faker'
import fc from 'fast-check'

/** The choices of one request: the same for the same seed and index, whatever was drawn for other requests. */
export interface Draw {
  /** A whole number, both bounds included. */
  readonly int: (min: number, max: number) => number
  /** True so many times out of 100. */
  readonly happens: (percent: number) => boolean
  readonly oneOf: <T>(choices: readonly T[]) => T
  /** A value of a generator of fast-check. */
  readonly from: <T>(arbitrary: fc.Arbitrary<T>) => T
}

export function drawOf(seed: number, index: number): Draw {
  const source = new SimpleFaker()
  source.seed([seed, index])
  const int = (min: number, max: number) => source.number.int({ min, max })
  return {
    int,
    happens: (percent) => int(1, 100) <= percent,
    // One number whatever the length, so that the choices after it do not depend on what the server happens to hold.
    oneOf: (choices) => choices[int(0, 2 ** 30) % choices.length] as (typeof choices)[number],
    from: (arbitrary) => fc.sample(arbitrary, { seed: int(0, 2 ** 30), numRuns: 1 })[0] as never,
  }
}
