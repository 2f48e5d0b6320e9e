import type { IDataObject, IHookFunctions, INodeType, INodeTypeDescription, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { request } from '../Dateline/request';
import { refusal } from './verify';

type Stored = { webhookId?: string; secret?: string };

const events: Array<[value: string, name: string]> = [
	['account.expiring', 'Account Access Expires Soon'],
	['account.needs_reconnect', 'Account Needs to Be Reconnected'],
	['article.matched', 'Article Matched a Saved Search'],
	['post.approved', 'Post Approved'],
	['post.rejected', 'Post Changes Requested'],
	['post.differs', 'Post Differs'],
	['post.failed', 'Post Failed'],
	['post.late', 'Post Late'],
	['post.posted', 'Post Published'],
	['post.submitted', 'Post Submitted for Approval'],
	['post.uncertain', 'Post Uncertain'],
	['site.drop', 'Site Has Far Fewer Views'],
	['site.spike', 'Site Has Many More Views'],
	['system.recovered', 'System Recovered'],
	['system.trouble', 'System Has a Problem'],
];

/** Starts a workflow when something happens in Dateline. */
export class DatelineTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Dateline Trigger',
		name: 'datelineTrigger',
		icon: { light: 'file:dateline.svg', dark: 'file:dateline.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["types"].join(", ") }}',
		description: 'Starts the workflow when posts are published or fail, articles match, or traffic changes',
		defaults: { name: 'Dateline Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'datelineApi', required: true }],
		webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook', rawBody: true }],
		properties: [
			{
				displayName: 'Events',
				name: 'types',
				type: 'multiOptions',
				required: true,
				default: [],
				options: events.map(([value, name]) => ({ name, value })),
			},
		],
	};

	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				const stored = this.getWorkflowStaticData('node') as Stored;
				if (!stored.webhookId || !stored.secret) return false;
				const { webhooks } = await request<{ webhooks: IDataObject[] }>(this, 'GET', '/webhooks');
				const types = [...(this.getNodeParameter('types') as string[])].sort().join();
				return webhooks.some(
					(w) => w.id === stored.webhookId && w.url === this.getNodeWebhookUrl('default') && w.status === 'enabled' && [...(w.types as string[])].sort().join() === types,
				);
			},
			async create(this: IHookFunctions): Promise<boolean> {
				const { webhook, secret } = await request<{ webhook: { id: string }; secret: string }>(this, 'POST', '/webhooks', {
					body: { url: this.getNodeWebhookUrl('default'), description: 'n8n', types: this.getNodeParameter('types') as string[] },
				});
				Object.assign(this.getWorkflowStaticData('node'), { webhookId: webhook.id, secret });
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				const stored = this.getWorkflowStaticData('node') as Stored;
				if (stored.webhookId) {
					await request(this, 'DELETE', `/webhooks/${stored.webhookId}`);
				}
				delete stored.webhookId;
				delete stored.secret;
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const { secret } = this.getWorkflowStaticData('node') as Stored;
		const header = (name: string) => String(this.getHeaderData()[name] ?? '');
		const raw = this.getRequestObject().rawBody;
		const problem = secret
			? refusal(secret, { id: header('webhook-id'), timestamp: header('webhook-timestamp'), signature: header('webhook-signature') }, raw)
			: 'The endpoint has no secret: deactivate the workflow and activate it again';
		if (problem) {
			this.getResponseObject().status(401).json({ error: problem });
			return { noWebhookResponse: true };
		}
		return { workflowData: [this.helpers.returnJsonArray({ ...(JSON.parse(raw.toString()) as IDataObject), webhook_id: header('webhook-id') })] };
	}
}
