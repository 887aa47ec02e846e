/** Returns the lowest number from `min` on that is not taken. */
export function lowestFree(isTaken: (number: number) => boolean, min = 1): number {
  let free = min
  while (isTaken(free)) free++
  return free
}
