import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Code,
  Group,
  MultiSelect,
  NumberInput,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core'
import { IconKey, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, type Schemas, unwrap } from '../../api/client'
import { useConfirm } from '../../components/Confirm'
import { Empty, Failed, WaitingRows } from '../../components/states'
import { Time } from '../../components/Time'
import { useAct } from '../../lib/act'
import { useMe } from '../../lib/session'
import { forget, useFormState } from '../../lib/formState'

export function Tokens() {
  const { t } = useTranslation()
  const me = useMe()
  const client = useQueryClient()
  const list = useQuery({
    queryKey: ['tokens'],
    queryFn: async () => (await unwrap(api.GET('/api/v1/tokens', { params: { query: { limit: 200 } } }))).tokens,
  })
  const form = 'token'
  const [name, setName] = useFormState(form, 'name', '')
  const [scopes, setScopes] = useFormState<string[]>(form, 'scopes', [])
  const [days, setDays] = useFormState<number | string>(form, 'days', 90)
  const settled = () => void client.invalidateQueries({ queryKey: ['tokens'] })
  const make = useAct({
    send: () =>
      unwrap(
        api.POST('/api/v1/tokens', {
          params: { header: idempotencyHeader() },
          body: { name, scopes: scopes as Schemas['Scope'][], expires_in_days: Number(days) || 90 },
        }),
      ),
    accepted: () => forget(form),
    settled,
    done: () => undefined,
  })
  // Not shown as revoked before it is.
  const revoke = useAct({
    send: (id: string) => unwrap(api.DELETE('/api/v1/tokens/{id}', { params: { path: { id } } })),
    settled,
    done: () => t('act.revoked'),
  })
  const [dialog, ask] = useConfirm()
  const confirmRevoke = (k: { id: string; name: string }) =>
    ask({
      title: t('system.revokeTitle', { name: k.name }),
      text: t('system.revokeText'),
      action: t('system.revokeDo'),
      danger: true,
      run: () => revoke.mutate(k.id),
    })
  if (list.error) return <Failed error={list.error} retry={() => void list.refetch()} />
  if (!list.data) return <WaitingRows height={60} />
  return (
    <Stack>
      {dialog}
      <form
        onSubmit={(e) => {
          e.preventDefault()
          make.mutate()
        }}
      >
        <Group align="flex-end" gap="sm" className="dl-form">
          <TextInput
            label={t('system.tokenName')}
            required
            maxLength={200}
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
          />
          <MultiSelect
            label={t('system.scopes')}
            data={me.scopes}
            value={scopes}
            onChange={setScopes}
            searchable
            miw={220}
            maw={420}
          />
          <NumberInput label={t('system.days')} min={1} max={365} w={150} value={days} onChange={setDays} />
          <Button
            type="submit"
            leftSection={<IconKey size={18} aria-hidden />}
            loading={make.isPending}
            disabled={name.trim() === '' || scopes.length === 0}
          >
            {t('system.makeToken')}
          </Button>
        </Group>
      </form>
      {make.data?.secret && (
        <Alert color="yellow" title={t('system.tokenOnce')} role="status">
          <Code block>{make.data.secret}</Code>
        </Alert>
      )}
      {list.data.length === 0 ? (
        <Empty icon={IconKey} title={t('system.noTokens')} text={t('system.noTokensText')} guide="how-to/use-the-api" />
      ) : (
        <Table.ScrollContainer
          minWidth={560}
          className="dl-card dl-stack"
          scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
        >
          <Table verticalSpacing="sm" aria-label={t('system.tokens')}>
            <Table.Tbody>
              {list.data.map((k) => (
                <Table.Tr key={k.id}>
                  <Table.Td>
                    <Text size="sm" fw={500}>
                      {k.name}
                    </Text>
                    <Text size="xs" c="dimmed">
                      {k.hint}… · {k.user.name}
                    </Text>
                  </Table.Td>
                  <Table.Td maw={280}>
                    <Text size="xs" c="dimmed" className="dl-text">
                      {k.scopes.map((s) => ((s as string) === '*' ? t('system.allScopes') : s)).join(', ')}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    {k.expired ? (
                      <Badge color="red" variant="light" tt="none">
                        {t('system.expired')}
                      </Badge>
                    ) : (
                      <Text size="sm" c="dimmed">
                        {k.expires_at ? <Time at={k.expires_at} look="short" /> : t('system.neverEnds')}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td ta="right">
                    <ActionIcon
                      loading={revoke.isPending && revoke.variables === k.id}
                      variant="subtle"
                      color="red"
                      aria-label={t('system.revoke', { name: k.name })}
                      onClick={() => confirmRevoke(k)}
                    >
                      <IconTrash size={18} aria-hidden />
                    </ActionIcon>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  )
}
