import { readFileSync } from 'node:fs'

/** The resident memory of a running process, in MB. From /proc, which Linux alone has. */
export function residentMb(pid: number): number {
  return statusMb(pid, 'VmRSS')
}

/** The most that it has been since the process began. */
export function mostResidentMb(pid: number): number {
  return statusMb(pid, 'VmHWM')
}

function statusMb(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
