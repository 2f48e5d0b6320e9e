import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Divider,
  Group,
  NumberInput,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { Failed } from '../../components/states'
import { Modal } from '../../components/Modal'
import { useAct } from '../../lib/act'
import { errorText } from '../../lib/notify'
import { formatTime } from '../../lib/time'
import { forget, useFormState } from '../../lib/formState'

const kinds = ['weekly', 'monthly', 'alerts'] as const
type Kind = (typeof kinds)[number]

/** Manages who gets a site's reports and alerts by email, and when alerts are raised. */
export function Emails({ site, close }: { site: Schemas['Site']; close: () => void }) {
  const { t } = useTranslation()
  return (
    <Modal opened onClose={close} size="lg" title={t('emails.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack>
        <Recipients site={site} />
        <Divider />
        <Rule site={site} />
      </Stack>
    </Modal>
  )
}

function Recipients({ site }: { site: Schemas['Site'] }) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const queryKey = ['subscriptions', site.id]
  const path = { id: site.id }
  const list = useQuery({
    queryKey,
    queryFn: () => unwrap(api.GET('/api/v1/sites/{id}/subscriptions', { params: { path } })),
  })
  const form = `recipient ${site.id}`
  const [email, setEmail] = useFormState(form, 'email', '')
  const [kind, setKind] = useFormState<Kind>(form, 'kind', 'weekly')
  const settled = () => void client.invalidateQueries({ queryKey })
  const add = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/sites/{id}/subscriptions', {
          params: { path },
          body: { kind, email, language: i18n.language === 'vi' ? 'vi' : 'en' },
        }),
      ),
    accepted: () => forget(form),
    settled,
    done: () => t('act.added', { name: email }),
    failed: false,
  })
  const remove = useAct({
    send: (subscription: string) =>
      unwrap(
        api.DELETE('/api/v1/sites/{id}/subscriptions/{subscription}', { params: { path: { ...path, subscription } } }),
      ),
    settled,
    done: () => t('act.removed'),
  })
  const resend = useAct({
    send: (subscription: string) =>
      unwrap(
        api.POST('/api/v1/sites/{id}/subscriptions/{subscription}/resend', {
          params: { path: { ...path, subscription } },
        }),
      ),
    settled,
    done: () => t('channels.confirmationSent'),
  })
  return (
    <Stack component="section" aria-label={t('emails.recipients')}>
      <Text size="sm" c="dimmed">
        {t('emails.text')}
      </Text>
      {list.data?.can_send_email === false && <Alert color="yellow">{t('emails.off')}</Alert>}
      <form
        onSubmit={(e) => {
          e.preventDefault()
          add.mutate()
        }}
      >
        <Group align="flex-end" gap="sm" className="dl-form">
          <TextInput
            type="email"
            label={t('emails.email')}
            required
            maxLength={254}
            value={email}
            onChange={(e) => setEmail(e.currentTarget.value)}
            style={{ flex: '1 1 14rem' }}
          />
          <Select
            label={t('emails.kind')}
            allowDeselect={false}
            value={kind}
            onChange={(v) => v && setKind(v as Kind)}
            data={kinds.map((value) => ({ value, label: t(`emails.kinds.${value}`) }))}
          />
          <Button
            type="submit"
            loading={add.isPending}
            disabled={email.trim() === '' || list.data?.can_send_email === false}
          >
            {t('emails.add')}
          </Button>
        </Group>
      </form>
      {add.error && (
        <Alert color="red" role="alert">
          {errorText(add.error)}
        </Alert>
      )}
      {list.error ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        list.data?.subscriptions.map((s) => (
          <Group key={s.id} justify="space-between" wrap="nowrap" className="dl-card" p="sm" data-recipient={s.email}>
            <div>
              <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                {s.email}
              </Text>
              <Group gap="xs">
                <Text size="sm" c="dimmed">
                  {t(`emails.kinds.${s.kind}`)}
                </Text>
                {s.last_email && (
                  <Badge
                    variant="light"
                    tt="none"
                    color={s.last_email.status === 'dead' ? 'red' : s.last_email.status === 'sent' ? 'green' : 'gray'}
                  >
                    {t(`emails.states.${s.last_email.status}`, {
                      time: formatTime(
                        s.last_email.sent_at ?? s.last_email.created_at,
                        i18n.language,
                        site.time_zone,
                        'short',
                      ),
                    })}
                  </Badge>
                )}
              </Group>
              {s.last_email?.error && s.last_email.status !== 'sent' && (
                <Text size="sm" c="red" lang="en" style={{ overflowWrap: 'anywhere' }}>
                  {s.last_email.error}
                </Text>
              )}
            </div>
            <Group gap="xs" wrap="nowrap">
              {s.last_email?.status === 'dead' && (
                <Button
                  size="xs"
                  variant="default"
                  loading={resend.isPending && resend.variables === s.id}
                  onClick={() => resend.mutate(s.id)}
                >
                  {t('emails.resend')}
                </Button>
              )}
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label={t('emails.remove', { email: s.email })}
                loading={remove.isPending && remove.variables === s.id}
                onClick={() => remove.mutate(s.id)}
              >
                <IconTrash size={18} aria-hidden />
              </ActionIcon>
            </Group>
          </Group>
        ))
      )}
    </Stack>
  )
}

function Rule({ site }: { site: Schemas['Site'] }) {
  const path = { id: site.id }
  const rule = useQuery({
    queryKey: ['alert-rule', site.id],
    queryFn: () => unwrap(api.GET('/api/v1/sites/{id}/alert-rule', { params: { path } })),
  })
  if (rule.error) return <Failed error={rule.error} retry={() => void rule.refetch()} />
  return rule.data ? <RuleForm site={site} rule={rule.data} /> : null
}

function RuleForm({ site, rule }: { site: Schemas['Site']; rule: Schemas['AlertRule'] }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = `alert rule ${site.id}`
  const [draft, setDraft] = useFormState(form, 'draft', rule)
  const set = (to: Partial<Schemas['AlertRule']>) => setDraft({ ...draft, ...to })
  const save = useAct({
    send: () => unwrap(api.PUT('/api/v1/sites/{id}/alert-rule', { params: { path: { id: site.id } }, body: draft })),
    accepted: (saved) => {
      forget(form)
      client.setQueryData(['alert-rule', site.id], saved)
    },
    done: () => t('act.saved', { name: t('emails.alerts') }),
    failed: false,
  })
  return (
    <form
      aria-label={t('emails.alerts')}
      onSubmit={(e) => {
        e.preventDefault()
        save.mutate()
      }}
    >
      <Stack>
        <Title order={3} size="h5">
          {t('emails.alerts')}
        </Title>
        <Text size="sm" c="dimmed">
          {t('emails.alertsText')}
        </Text>
        <Switch
          label={t('emails.enabled')}
          checked={draft.enabled}
          onChange={(e) => set({ enabled: e.currentTarget.checked })}
        />
        <Group gap="sm" grow preventGrowOverflow={false}>
          <NumberInput
            label={t('emails.spikeFactor')}
            min={1.5}
            max={100}
            step={0.5}
            value={draft.spike_factor}
            onChange={(v) => typeof v === 'number' && set({ spike_factor: v })}
            disabled={!draft.enabled}
          />
          <NumberInput
            label={t('emails.dropShare')}
            min={0}
            max={90}
            suffix=" %"
            value={Math.round(draft.drop_share * 100)}
            onChange={(v) => typeof v === 'number' && set({ drop_share: v / 100 })}
            disabled={!draft.enabled}
          />
          <NumberInput
            label={t('emails.minViews')}
            min={1}
            max={1_000_000_000}
            allowDecimal={false}
            value={draft.min_views}
            onChange={(v) => typeof v === 'number' && set({ min_views: v })}
            disabled={!draft.enabled}
          />
        </Group>
        {save.error && (
          <Alert color="red" role="alert">
            {errorText(save.error)}
          </Alert>
        )}
        <Button
          type="submit"
          variant="default"
          loading={save.isPending}
          disabled={JSON.stringify(draft) === JSON.stringify(rule)}
        >
          {t('emails.save')}
        </Button>
      </Stack>
    </form>
  )
}
