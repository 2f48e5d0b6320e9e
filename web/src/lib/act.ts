import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { notifyError, notifyRefused, notifySuccess, notifyUndo } from './notify'

interface Act<V, R> {
  send: (v: V) => Promise<R>
  /** Shows the result before the response, and returns what restores the state. */
  show?: (v: V) => () => void
  /** What happened; undefined if the page shows it anyway. */
  done: (result: R, v: V) => string | undefined
  /** The act that reverts it, offered beside the message. */
  undo?: (result: R, v: V) => V | undefined
  /** What did not happen; the reason stands below. false: the form shows the error itself. */
  failed?: ((v: V) => string) | false
  /** Called when the request was accepted. */
  accepted?: (result: R, v: V) => unknown
  /** The data that it changes, which is fetched again after the last of such acts. */
  about?: QueryKey
  settled?: (v: V) => void
}

/**
 * An action of the user: its result is shown at once, and restored if the request is refused; without `show`, its control is
 * busy meanwhile (`isPending`). A message names what happened or why not, and offers to undo it.
 */
export function useAct<V, R>({ send, show, done, undo, failed, accepted, about, settled }: Act<V, R>) {
  const client = useQueryClient()
  const act = useMutation({
    mutationKey: about && ['act', ...about],
    mutationFn: send,
    onMutate: (v) => show?.(v),
    onSuccess: (result, v) => {
      const message = done(result, v)
      const inverse = undo?.(result, v)
      if (message && inverse !== undefined) notifyUndo(message, () => act.mutate(inverse))
      else if (message) notifySuccess(message)
      return accepted?.(result, v)
    },
    onError: (error, v, restore) => {
      restore?.()
      if (failed) notifyRefused(failed(v), error)
      else if (failed === undefined) notifyError(error)
    },
    onSettled: (_, __, v) => {
      // While another one is in flight, the server's state would undo what is shown of it.
      if (about && client.isMutating({ mutationKey: ['act', ...about] }) <= 1)
        void client.invalidateQueries({ queryKey: about })
      settled?.(v)
    },
  })
  return act
}
