/** Calls `callback` once, after `ms` milliseconds. Returns a function that cancels the call. */
export type SetTimer = (callback: () => void, ms: number) => () => void

export const startTimer: SetTimer = (callback, ms) => {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}
