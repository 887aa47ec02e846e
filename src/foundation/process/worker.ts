import { createLoop } from './loop.ts'

interface WorkerOptions<Job> {
  readonly log: { warn(details: object, message: string): void }
  /** What is logged when jobs cannot be claimed, or one fails for which `failed` says nothing. */
  readonly complaint: string
  /** How often it looks for jobs by itself. */
  readonly everyMs: number
  /** Claims the jobs to be done at once; empty: none is due that nobody else does. */
  readonly claim: () => Promise<readonly Job[]>
  /** Does one and notes its result on condition of the claim, so that a job past its lease changes nothing. Ends early when `isStopping`. */
  readonly work: (job: Job, isStopping: () => boolean) => Promise<void>
  /** Gives up the claim however the work ended; without it, others wait until the lease has run out. */
  readonly release?: (job: Job) => Promise<unknown>
  /** What is logged of a job that failed, which then keeps no other from being done; without it, a failure ends the run. */
  readonly failed?: (job: Job) => readonly [details: object, message: string]
}

/**
 * Does leased jobs in the background: claims what is due, works on it, releases it, until nothing is due. A job that a killed process leaves is
 * claimed by another one once its lease has run out, so any number of processes may run this on one database.
 */
export function createWorker<Job>({ log, complaint, everyMs, claim, work, release, failed }: WorkerOptions<Job>) {
  async function runDue(isStopping = () => false): Promise<void> {
    for (let jobs = await claim(); jobs.length > 0; jobs = isStopping() ? [] : await claim()) {
      await Promise.all(jobs.map((job) => workOn(job, isStopping)))
    }
  }

  async function workOn(job: Job, isStopping: () => boolean): Promise<void> {
    try {
      await work(job, isStopping)
    } catch (error) {
      if (failed === undefined) throw error
      const [details, message] = failed(job)
      log.warn({ err: error, ...details }, message)
    } finally {
      await release?.(job).catch((error) => log.warn({ err: error }, `${complaint}: a claim could not be released`))
    }
  }

  const loop = createLoop(runDue, { log, complaint, everyMs })
  return {
    ...loop,
    /** Does what is due, and resolves when it is done. */
    runDue: () => runDue(),
    /** Looks for jobs, and resolves when none is left that this process may do. */
    async settle(): Promise<void> {
      loop.wake()
      await loop.idle()
    },
  }
}
