/** Makes a function that works out what it returns for an object once, and keeps it for as long as the object is there. */
export function remembered<Of extends object, T extends object>(make: (of: Of) => T): (of: Of) => T {
  const known = new WeakMap<Of, T>()
  return (of) => {
    const found = known.get(of)
    if (found !== undefined) return found
    const made = make(of)
    known.set(of, made)
    return made
  }
}
