import { afterAll, beforeAll, expect, test } from 'vitest'
import { allOddities, type Faults, type Oddities } from '../../../support/odd-source.ts'
import type { TestStore } from '../../../support/store.ts'
import { differencesBetween, expectEnd, openStage, type Stage } from './fixture.ts'

let stage: Stage
let shop: TestStore

beforeAll(async () => {
  stage = await openStage()
  shop = await stage.openSource()
}, 120_000)
afterAll(() => stage?.close())

async function expectCopied({
  oddities,
  faults,
  args = [],
}: {
  oddities?: Oddities
  faults?: Faults
  args?: string[]
}) {
  const move = await stage.openMove(shop, { ...(oddities && { oddities }), ...(faults && { faults }) })
  const copied = await move.run(args)
  expectEnd(copied, 0)
  const compared = await move.run(['--compare', ...args])
  expect(expectEnd(compared, 0), move.text()).toMatch(/^[\d,]+ equal, 0 different, 0 only there, 0 only here$/m)
  expect(await differencesBetween(stage.server, shop, move.here)).toEqual([])
  return { move, copied }
}

test('a store is copied as it is', async () => {
  await expectCopied({})
})

const alone: Oddities[] = [
  ...Object.entries(allOddities).map(([name, value]) => ({ [name]: value })),
  { end: '400' },
  { end: '404' },
  { xmlOnly: true },
]

test.each(alone)('a source with %j is copied, and equal', { timeout: 60_000 }, async (oddities) => {
  await expectCopied({ oddities })
})

test('v2 is copied, and equal', async () => {
  await expectCopied({ args: ['--version', 'v2'] })
})

test('all oddities at once are copied, and equal, and what has no place is named', async () => {
  const { copied } = await expectCopied({ oddities: allOddities })
  expect(copied.output).toMatch(/Members that have no place here: .*Orders\.CheckAccount/)
})

test.each<Faults>([
  { tooManyWithRetryAfter: 0.2 },
  { tooMany: 0.05 },
  { status500: 0.05 },
  { status503: 0.05 },
  { cut: 0.05 },
  { cutWithoutLength: 0.05 },
  { slow: 0.2 },
  { shortList: 0.7 },
])('a source that fails by %j is copied, and equal', { timeout: 60_000 }, async (faults) => {
  const { move } = await expectCopied({ faults })
  expect([...move.source.failed.keys()]).toEqual(Object.keys(faults))
})
