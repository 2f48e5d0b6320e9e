import { Button, Checkbox, Group, List, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Account } from '../../api/client'
import { AccountName } from '../../components/network'
import { Modal } from '../../components/Modal'
import { type Draft, type Version, withOwnMedia } from './draft'

/** The media and the thread of an account: inherited or its own. */
export function Shared({
  draft,
  id,
  setDraft,
}: {
  draft: Draft
  id: string
  setDraft: (update: (d: Draft) => Draft) => void
}) {
  const { t } = useTranslation()
  const own = draft.versions[id] ?? {}
  const [first, ...thread] = draft.parts
  const set = (change: Version) =>
    setDraft((d) => ({ ...d, versions: { ...d.versions, [id]: { ...d.versions[id], ...change } } }))
  return (
    <Stack gap={6}>
      <Checkbox
        label={t('compose.sameMedia')}
        description={
          own.attachments === undefined
            ? t('compose.sameMediaText')
            : own.attachments.length === 0
              ? t('compose.noMediaHere')
              : t('compose.ownMediaText')
        }
        checked={own.attachments === undefined}
        onChange={(e) => set({ attachments: e.currentTarget.checked ? undefined : [...(first?.attachments ?? [])] })}
      />
      {(thread.length > 0 || (own.thread?.length ?? 0) > 0) && (
        <Checkbox
          label={t('compose.sameThread')}
          description={own.thread?.length === 0 ? t('compose.noThreadHere') : undefined}
          checked={own.thread === undefined}
          onChange={(e) => set({ thread: e.currentTarget.checked ? undefined : structuredClone(thread) })}
        />
      )}
    </Stack>
  )
}

/** Files that were added to a segment of the post. */
export interface AddedMedia {
  part: number
  files: string[]
}

/** Asks whether accounts with media of their own get the files that were added for all. */
export function MediaTooDialog({
  draft,
  accounts,
  added,
  close,
  add,
}: {
  draft: Draft
  accounts: Account[]
  added?: AddedMedia
  close: () => void
  add: (ids: string[], added: AddedMedia) => void
}) {
  const { t } = useTranslation()
  const ids = added ? withOwnMedia(draft, added.part) : []
  return (
    <Modal
      opened={ids.length > 0}
      onClose={close}
      title={t('compose.mediaToo')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Text size="sm">{t('compose.mediaTooText')}</Text>
      <List my="sm" listStyleType="none">
        {accounts
          .filter((a) => ids.includes(a.id))
          .map((a) => (
            <List.Item key={a.id}>
              <AccountName network={a.network} handle={a.handle} />
            </List.Item>
          ))}
      </List>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={close}>
          {t('compose.mediaTooNo')}
        </Button>
        <Button
          data-autofocus
          onClick={() => {
            if (added) add(ids, added)
            close()
          }}
        >
          {t('compose.mediaTooYes')}
        </Button>
      </Group>
    </Modal>
  )
}
