import { causeText, isOwnCause, type Message } from '../i18n/message'

/** Why something failed: a sentence of Dateline, or the answer of a network as it is. */
export function Cause({ cause }: { cause: Message }) {
  const text = causeText(cause)
  return isQuoted(cause) ? <q lang="en">{text}</q> : text
}

/** Whether the text of a cause is the answer of a network. */
export const isQuoted = (cause: Message) => !isOwnCause(cause.code) && causeText(cause) === cause.message
