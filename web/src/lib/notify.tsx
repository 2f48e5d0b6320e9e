import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import i18n from 'i18next'
import { ApiError, proxyTooLarge } from '../api/client'
import { base } from '../boot'
import { problemText } from '../i18n/message'

/** The message of an error, in the user's language if it is known, with its remedy. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) {
    if (error.code === 'unreachable') return i18n.t('problem.unreachable')
    if (error.code === proxyTooLarge) return i18n.t('problem.proxyTooLarge')
    const fields = error.fields.map(problemText)
    if (error.code === 'invalid_request' && fields.length > 0) return fields.join(' ')
    const text = problemText(error)
    return [text, ...fields.filter((f) => !text.includes(f))].join(' ')
  }
  return error instanceof Error ? error.message : String(error)
}

export function notifyError(error: unknown): void {
  notifyRefused(i18n.t('problem.title'), error)
}

/** Says what did not happen, and why. */
export function notifyRefused(title: string, error: unknown): void {
  notifications.show({
    color: 'red',
    title,
    message: errorText(error),
    autoClose: 12_000,
    withBorder: true,
    closeButtonProps: { 'aria-label': i18n.t('close') },
  })
}

export function notifySuccess(message: string): void {
  notifications.show({ color: 'green', message, withBorder: true, closeButtonProps: { 'aria-label': i18n.t('close') } })
}

/** Says what was done, and offers to undo it. */
export function notifyUndo(message: string, undo: () => void): void {
  const id = crypto.randomUUID()
  const run = () => {
    notifications.hide(id)
    undo()
  }
  notifications.show({
    id,
    color: 'green',
    withBorder: true,
    autoClose: 10_000,
    closeButtonProps: { 'aria-label': i18n.t('close') },
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <span>{message}</span>
        <Button size="compact-sm" variant="light" onClick={run}>
          {i18n.t('undo')}
        </Button>
      </Group>
    ),
  })
}

/** Saved searches matched new articles: one notification, however many there are. */
export function notifyMatches(count: number): void {
  notifications.hide('found')
  notifications.show({
    id: 'found',
    color: 'indigo',
    message: i18n.t('saved.found', { count }),
    withBorder: true,
    closeButtonProps: { 'aria-label': i18n.t('close') },
  })
}

/** Somebody mentioned the user in a comment. */
export function notifyMention(post: string): void {
  notifications.show({
    id: `mention ${post}`,
    color: 'indigo',
    withBorder: true,
    autoClose: 30_000,
    closeButtonProps: { 'aria-label': i18n.t('close') },
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <span>{i18n.t('comments.mentioned')}</span>
        <Button component="a" href={`${base}/app/posts/${post}`} size="compact-sm" variant="light">
          {i18n.t('post.open')}
        </Button>
      </Group>
    ),
  })
}
