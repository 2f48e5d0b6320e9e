import { useMutation } from '@tanstack/react-query'
import { notifyError, notifyRefused, notifySuccess, notifyUndo } from './notify'

interface Act<V, R> {
  send: (v: V) => Promise<R>
  /** Shows the result before the response, and returns what restores the state. */
  show?: (v: V) => () => void
  /** What happened. */
  done: (result: R, v: V) => string
  /** Reverts it; offered beside the message. */
  undo?: (result: R, v: V) => (() => void) | undefined
  /** What did not happen; the reason stands below. */
  failed?: (v: V) => string
  settled?: (v: V) => void
}

/**
 * An action of the user: its result is shown at once, and restored if the request is refused. A message names what
 * happened or why not.
 */
export function useAct<V, R>({ send, show, done, undo, failed, settled }: Act<V, R>) {
  return useMutation({
    mutationFn: send,
    onMutate: (v) => show?.(v),
    onSuccess: (result, v) => {
      const revert = undo?.(result, v)
      if (revert) notifyUndo(done(result, v), revert)
      else notifySuccess(done(result, v))
    },
    onError: (error, v, restore) => {
      restore?.()
      if (failed) notifyRefused(failed(v), error)
      else notifyError(error)
    },
    onSettled: (_, __, v) => settled?.(v),
  })
}
