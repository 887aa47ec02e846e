/** The header webhook-id of an event, out of its UUID: `evt_` and 32 hexadecimal characters. */
export function messageIdOf(uuid: string): string {
  return `evt_${uuid.replaceAll('-', '')}`
}
