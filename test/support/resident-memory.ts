import { readFileSync } from 'node:fs'

/** The resident memory of a running process, in MB. From /proc, which Linux alone has. */
export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
