import { expect, test } from 'vitest'
import { createWorker } from '../../../../src/foundation/process/worker.ts'

type Options = Omit<Parameters<typeof createWorker<number>>[0], 'log' | 'complaint' | 'everyMs' | 'claim'>

/** A worker on these batches of jobs, with what it released and logged. */
function workerOn(batches: number[][], options: Options) {
  const warnings: string[] = []
  const released: number[] = []
  const log = { warn: (_details: object, message: string) => warnings.push(message) }
  const claim = async () => batches.shift() ?? []
  const release = async (job: number) => released.push(job)
  const worker = createWorker<number>({
    log,
    complaint: 'jobs stand still',
    everyMs: 60_000,
    claim,
    release,
    ...options,
  })
  return { worker, warnings, released }
}

test('jobs are claimed until none is due, and each is released', async () => {
  const done: number[] = []
  const { worker, released } = workerOn([[1, 2], [3]], { work: async (job) => void done.push(job) })

  await worker.runDue()

  expect(done).toEqual([1, 2, 3])
  expect(released).toEqual([1, 2, 3])
})

/** Cannot do the job 1. */
const noneOfOne = (done: number[]) => async (job: number) => {
  if (job === 1) throw new Error('cannot be done')
  done.push(job)
}

test('a job that fails is logged and released, and keeps no other from being done', async () => {
  const done: number[] = []
  const work = noneOfOne(done)
  const { worker, warnings, released } = workerOn([[1, 2], [3]], { work, failed: (job) => [{ job }, `${job} failed`] })

  await worker.runDue()

  expect(done).toEqual([2, 3])
  expect(warnings).toEqual(['1 failed'])
  expect(released.sort()).toEqual([1, 2, 3])
})

test('without words for it, a failure ends the run until the next wake', async () => {
  const batches = [[1], [2]]
  const done: number[] = []
  const work = noneOfOne(done)
  const { worker, warnings, released } = workerOn(batches, { work })

  await worker.settle()
  expect({ warnings, released, waiting: batches }).toEqual({
    warnings: ['jobs stand still'],
    released: [1],
    waiting: [[2]],
  })
  await worker.settle()
  expect(done).toEqual([2])
})

test('a worker that stops ends behind the jobs in progress, and claims no more', async () => {
  const started = Promise.withResolvers<void>()
  const batches = [[1], [2]]
  const { worker, released } = workerOn(batches, {
    work: (_job, isStopping) =>
      new Promise((resolve) => {
        started.resolve()
        const look = () => (isStopping() ? resolve() : setImmediate(look))
        look()
      }),
  })

  worker.wake()
  await started.promise
  await worker.stop()

  expect({ released, waiting: batches }).toEqual({ released: [1], waiting: [[2]] })
})
