/** A reason not to start that the operator can remove: the message says which, and what to do. Shown without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}
