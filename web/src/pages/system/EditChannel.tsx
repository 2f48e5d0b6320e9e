import {
  Alert,
  Button,
  Group,
  MultiSelect,
  PasswordInput,
  Select,
  Skeleton,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { ZoneSelect } from '../../components/ZoneSelect'
import { FormDialog } from '../../components/FormDialog'
import { useAct } from '../../lib/act'
import { forget, useFormState } from '../../lib/formState'
import { errorText } from '../../lib/notify'
import { canPush, subscribe } from '../../lib/push'
import { useAtLeast, useMe } from '../../lib/session'
import { types } from './Webhooks'
import { typeKey } from './words'
import { loaded } from '../../lib/loading'

const ClockField = lazy(() => loaded(() => import('../../components/ClockField')))

type Channel = Schemas['NotificationChannel']
type Settings = Schemas['NotificationChannelSettings']
type Kind = Schemas['NotificationChannelKind']

const kinds: Kind[] = ['email', 'slack', 'telegram', 'discord', 'ntfy', 'matrix', 'teams', 'push', 'webhook']
const digests = ['none', 'hourly', 'daily', 'twice_daily'] as const
const initial: Schemas['WebhookType'][] = [
  'post.failed',
  'post.uncertain',
  'post.differs',
  'post.late',
  'account.needs_reconnect',
]

/** The parts of a destination that a kind has; those with a question mark are optional. */
const parts: Record<Kind, string[]> = {
  email: ['recipient'],
  slack: ['url'],
  telegram: ['token', 'recipient'],
  discord: ['url'],
  ntfy: ['url', 'token?'],
  matrix: ['url', 'token', 'recipient'],
  teams: ['url'],
  webhook: ['url', 'token?'],
  push: [],
}

/** Creates or changes a notification channel. Secrets that are left empty are kept. */
export function EditChannel({
  channel,
  canSendEmail,
  pushKey,
  close,
  settled,
}: {
  channel?: Channel
  canSendEmail: boolean
  pushKey: string
  close: () => void
  settled: () => void
}) {
  const { t, i18n } = useTranslation()
  const me = useMe()
  const editor = useAtLeast('editor')
  const form = `channel ${channel?.id ?? ''}`
  // Addresses and tokens of channels are secrets.
  const [draft, setDraft] = useFormState<Settings>(
    form,
    'draft',
    channel
      ? {
          kind: channel.kind,
          name: channel.name,
          types: channel.types,
          own_posts_only: channel.own_posts_only,
          digest: channel.digest,
          quiet_from: channel.quiet_from,
          quiet_to: channel.quiet_to,
          time_zone: channel.time_zone,
          language: channel.language,
          enabled: channel.status === 'enabled',
        }
      : {
          kind: canSendEmail ? 'email' : 'slack',
          name: '',
          types: initial,
          digest: 'none',
          time_zone: me.workspace.time_zone,
          language: i18n.language === 'vi' ? 'vi' : 'en',
          enabled: true,
          recipient: canSendEmail ? me.user.email : undefined,
        },
    { secret: true },
  )
  const set = (to: Partial<Settings>) => setDraft({ ...draft, ...to })
  const save = useAct({
    send: async () => {
      const browser = draft.kind === 'push' && !channel ? await subscribe(pushKey) : {}
      if (!browser) throw new Error(t('channels.pushRefused'))
      const body = {
        ...draft,
        quiet_from: draft.quiet_from || undefined,
        quiet_to: draft.quiet_to || undefined,
        url: draft.url || undefined,
        token: draft.token || undefined,
        recipient: draft.recipient || undefined,
        ...browser,
      }
      if (channel)
        await unwrap(api.PUT('/api/v1/notification-channels/{id}', { params: { path: { id: channel.id } }, body }))
      else await unwrap(api.POST('/api/v1/notification-channels', { body }))
    },
    accepted: () => {
      forget(form)
      close()
    },
    settled,
    done: () => t('act.saved', { name: draft.name }),
  })
  const has = (part: string) => parts[draft.kind].some((p) => p.replace('?', '') === part)
  const required = (part: string) => !channel && parts[draft.kind].includes(part)
  const kept = channel ? t('channels.kept') : undefined
  return (
    <FormDialog form={form} opened onClose={close} size="lg" title={t(channel ? 'channels.edit' : 'channels.add')}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          save.mutate()
        }}
      >
        <Stack>
          <Group grow preventGrowOverflow={false}>
            <Select
              label={t('channels.kind')}
              allowDeselect={false}
              disabled={!!channel}
              value={draft.kind}
              onChange={(v) => v && set({ kind: v as Kind, url: undefined, token: undefined, recipient: undefined })}
              data={kinds.map((value) => ({
                value,
                label:
                  value === 'email' && !canSendEmail
                    ? t('channels.notSetUp', { kind: t('channels.kinds.email') })
                    : t(`channels.kinds.${value}`),
                disabled: (value === 'email' && !canSendEmail) || (value === 'push' && !canPush),
              }))}
            />
            <TextInput
              label={t('channels.name')}
              required
              maxLength={100}
              value={draft.name}
              onChange={(e) => set({ name: e.currentTarget.value })}
            />
          </Group>
          {!canSendEmail && draft.kind === 'email' && <Alert color="yellow">{t('channels.noEmail')}</Alert>}
          <Text size="sm" c="dimmed">
            {t(`channels.help.${draft.kind}`)}
          </Text>
          {has('url') && (
            <TextInput
              type="url"
              label={t('channels.url')}
              placeholder="https://"
              required={required('url')}
              description={kept}
              maxLength={2000}
              value={draft.url ?? ''}
              onChange={(e) => set({ url: e.currentTarget.value })}
            />
          )}
          {has('token') && (
            <PasswordInput
              label={t('channels.token')}
              autoComplete="off"
              required={required('token')}
              description={kept}
              maxLength={2000}
              value={draft.token ?? ''}
              onChange={(e) => set({ token: e.currentTarget.value })}
            />
          )}
          {has('recipient') && (
            <TextInput
              type={draft.kind === 'email' ? 'email' : 'text'}
              label={t('channels.recipient')}
              required={required('recipient')}
              description={kept}
              maxLength={300}
              value={draft.recipient ?? ''}
              onChange={(e) => set({ recipient: e.currentTarget.value })}
            />
          )}
          <MultiSelect
            label={t('channels.events')}
            value={draft.types}
            onChange={(v) => set({ types: v as Settings['types'] })}
            data={types
              .filter((x) => editor || !x.startsWith('system.'))
              .map((value) => ({ value, label: t(`channels.types.${typeKey(value)}`) }))}
          />
          <Switch
            label={t('channels.ownPosts')}
            checked={draft.own_posts_only ?? false}
            onChange={(e) => set({ own_posts_only: e.currentTarget.checked })}
          />
          <Group grow preventGrowOverflow={false} align="flex-end">
            <Select
              label={t('channels.digest')}
              allowDeselect={false}
              value={draft.digest ?? 'none'}
              onChange={(v) => v && set({ digest: v as Settings['digest'] })}
              data={digests.map((value) => ({ value, label: t(`channels.digests.${value}`) }))}
            />
            <Suspense fallback={<Skeleton height={60} />}>
              <ClockField
                label={t('channels.quietFrom')}
                value={draft.quiet_from ?? ''}
                onChange={(quiet_from) => set({ quiet_from })}
              />
              <ClockField
                label={t('channels.quietTo')}
                value={draft.quiet_to ?? ''}
                onChange={(quiet_to) => set({ quiet_to })}
              />
            </Suspense>
          </Group>
          <Text size="sm" c="dimmed">
            {t('channels.quietText')}
          </Text>
          <Group grow preventGrowOverflow={false}>
            <ZoneSelect value={draft.time_zone} onChange={(time_zone) => set({ time_zone })} />
            <Select
              label={t('channels.language')}
              allowDeselect={false}
              value={draft.language ?? 'en'}
              onChange={(v) => v && set({ language: v as Settings['language'] })}
              data={[
                { value: 'en', label: 'English' },
                { value: 'vi', label: 'Tiếng Việt' },
              ]}
            />
          </Group>
          <Switch
            label={t('channels.on')}
            checked={draft.enabled ?? true}
            onChange={(e) => set({ enabled: e.currentTarget.checked })}
          />
          {save.error && (
            <Alert color="red" role="alert">
              {errorText(save.error)}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t('cancel')}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={draft.types.length === 0}>
              {t('channels.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </FormDialog>
  )
}
