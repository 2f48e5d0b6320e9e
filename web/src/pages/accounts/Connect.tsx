import {
  Alert,
  Button,
  Checkbox,
  Group,
  PasswordInput,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { IconArrowLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAct } from '../../lib/act'
import { forget, useFormState } from '../../lib/formState'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { NetworkIcon, networkName } from '../../components/network'
import { Failed, Waiting } from '../../components/states'
import { Modal } from '../../components/Modal'
import { networksQuery } from '../../lib/queries'
import { errorText, notifySuccess } from '../../lib/notify'

type Network = Schemas['Network']

/** Connects an account: choose a network, then allow access there or fill in its form. */
export function Connect({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const networks = useQuery(networksQuery)
  const [network, setNetwork] = useState<Network>()
  const [choice, setChoice] = useState<Schemas['AccountChoice']>()
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title={network ? t('accounts.connectTo', { network: networkName(network.name) }) : t('accounts.connect')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {networks.error ? (
        <Failed error={networks.error} retry={() => void networks.refetch()} />
      ) : !networks.data ? (
        <Waiting />
      ) : choice ? (
        <Choice choice={choice} close={close} />
      ) : network ? (
        <Stack>
          <Form network={network} close={close} choose={setChoice} />
          <Button
            variant="subtle"
            color="gray"
            leftSection={<IconArrowLeft size={16} aria-hidden />}
            onClick={() => setNetwork(undefined)}
            style={{ alignSelf: 'flex-start' }}
          >
            {t('accounts.otherNetwork')}
          </Button>
        </Stack>
      ) : (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          {networks.data.map((n) => (
            <UnstyledButton key={n.name} className="dl-card" p="sm" onClick={() => setNetwork(n)}>
              <Group justify="space-between" wrap="nowrap">
                <Group gap="sm" wrap="nowrap">
                  <NetworkIcon network={n.name} size={24} />
                  <Text fw={600}>{networkName(n.name)}</Text>
                </Group>
                <IconChevronRight size={18} aria-hidden />
              </Group>
            </UnstyledButton>
          ))}
        </SimpleGrid>
      )}
    </Modal>
  )
}

function Form({
  network,
  close,
  choose,
}: {
  network: Network
  close: () => void
  choose: (c: Schemas['AccountChoice']) => void
}) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const [sandbox, setSandbox] = useState(network.sandbox)
  const [way, setWay] = useState(network.ways[0] ?? 'oauth')
  const form = `connect ${network.name}`
  const [instance, setInstance] = useFormState(form, 'instance', network.default_instance ?? '')
  // Keys and passwords are never stored in the browser.
  const [values, setValues] = useFormState<Record<string, string>>(form, 'values', {}, { secret: true })
  // The sandbox's own values are filled in; what is typed replaces them.
  const given = { ...(sandbox ? network.sandbox_values : {}), ...values }
  const place = {
    network: network.name,
    ...(sandbox ? { sandbox: true } : network.instances && instance ? { base_url: instance } : {}),
  }
  const go = useAct({
    send: async () => {
      if (way === 'oauth') {
        location.assign((await unwrap(api.POST('/api/v1/accounts/connect', { body: place }))).authorize_url)
        return
      }
      const made = await unwrap<Schemas['Account'] | Schemas['AccountChoice']>(
        api.POST('/api/v1/accounts/form', { body: { ...place, values: given } }),
      )
      forget(form)
      if ('accounts' in made) {
        choose(made)
        return
      }
      notifySuccess(t('accounts.connected', { handle: made.handle }))
      void client.invalidateQueries({ queryKey: ['accounts'] })
      close()
    },
    done: () => undefined,
    failed: false,
  })
  const unset = !sandbox && way === 'oauth' && !network.configured
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        go.mutate()
      }}
    >
      <Stack gap="sm">
        {network.sandbox && (
          <Switch
            label={t('accounts.useSandbox')}
            description={t('accounts.useSandboxText')}
            checked={sandbox}
            onChange={(e) => setSandbox(e.currentTarget.checked)}
          />
        )}
        {network.ways.length > 1 && (
          <SegmentedControl
            value={way}
            onChange={(v) => setWay(v as typeof way)}
            data={network.ways.map((w) => ({ value: w, label: t(`accounts.way.${w}`) }))}
            aria-label={t('accounts.ways')}
          />
        )}
        {network.instances && !sandbox && (
          <TextInput
            label={t('accounts.instance')}
            description={t('accounts.instanceText')}
            placeholder="https://social.example"
            type="url"
            value={instance}
            onChange={(e) => setInstance(e.currentTarget.value)}
            required={!network.default_instance}
          />
        )}
        {way === 'form' &&
          (network.fields ?? []).map((f) => {
            const Input = f.secret ? PasswordInput : TextInput
            return (
              <Input
                key={f.name}
                label={t(`accountFields.${network.name}.${f.name}.label` as 'accountFields.bluesky.handle.label', {
                  defaultValue: f.label,
                })}
                description={
                  f.help &&
                  t(`accountFields.${network.name}.${f.name}.help` as 'accountFields.bluesky.handle.help', {
                    defaultValue: f.help,
                  })
                }
                required={!f.optional}
                autoComplete="off"
                value={given[f.name] ?? ''}
                onChange={(e) => {
                  const { value } = e.currentTarget
                  setValues((all) => ({ ...all, [f.name]: value }))
                }}
              />
            )
          })}
        {unset && (
          <Alert color="yellow" title={t('accounts.notConfigured')}>
            {t('accounts.needsSettings', {
              settings: new Intl.ListFormat(i18n.language).format(network.missing?.match(/DATELINE_\w+/g) ?? []),
              defaultValue: network.missing,
            })}
          </Alert>
        )}
        {go.error && (
          <Alert color="red" role="alert">
            {errorText(go.error)}
          </Alert>
        )}
        <Button type="submit" loading={go.isPending} disabled={unset}>
          {t(way === 'oauth' ? 'accounts.allow' : 'accounts.connectDo')}
        </Button>
      </Stack>
    </form>
  )
}

/** The choice among the accounts that a login may post as, after the redirect from a network. */
export function ChooseAccounts({ id, close }: { id: string; close: () => void }) {
  const { t } = useTranslation()
  const choice = useQuery({
    queryKey: ['account-choice', id],
    retry: false,
    staleTime: Infinity,
    queryFn: () => unwrap(api.GET('/api/v1/account-choices/{id}', { params: { path: { id } } })),
  })
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title={
        choice.data ? t('accounts.connectTo', { network: networkName(choice.data.network) }) : t('accounts.connect')
      }
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {choice.error ? (
        <Alert color="red" role="alert">
          {t('accounts.choiceOver')}
        </Alert>
      ) : choice.data ? (
        <Choice choice={choice.data} close={close} />
      ) : (
        <Waiting />
      )}
    </Modal>
  )
}

function Choice({ choice, close }: { choice: Schemas['AccountChoice']; close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [chosen, setChosen] = useState<string[]>([])
  const go = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/account-choices/{id}', { params: { path: { id: choice.id } }, body: { remote_ids: chosen } }),
      ),
    accepted: ({ accounts }) => {
      notifySuccess(t('accounts.connected', { handle: accounts.map((a) => a.handle).join(', ') }))
      void client.invalidateQueries({ queryKey: ['accounts'] })
      close()
    },
    done: () => undefined,
    failed: false,
  })
  return (
    <Stack>
      <Checkbox.Group
        label={t('accounts.choose')}
        description={t('accounts.chooseText')}
        value={chosen}
        onChange={setChosen}
      >
        <Stack gap="xs" mt="xs">
          {choice.accounts.map((a) => (
            <Checkbox key={a.remote_id} value={a.remote_id} label={`${a.name} (${a.handle}, ${t(`kind.${a.kind}`)})`} />
          ))}
        </Stack>
      </Checkbox.Group>
      {go.error && (
        <Alert color="red" role="alert">
          {errorText(go.error)}
        </Alert>
      )}
      <Button disabled={chosen.length === 0} loading={go.isPending} onClick={() => go.mutate()}>
        {t('accounts.connectDo')}
      </Button>
    </Stack>
  )
}
