import { readdirSync, readFileSync } from 'node:fs'

/** The children of a process. */
export function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => numberIn(`/proc/${pid}/status`, 'PPid') === parent).map(Number)
}

/** The number of a line, such as `VmRSS`, of a file of `/proc`; 0 when the process has ended. */
export function numberIn(file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(file, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
