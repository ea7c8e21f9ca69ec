/** Made from contract/control.openapi.json by `npm run generate`. */
export interface paths {
    "/api/v1/projects": {
        /** Projects, by name */
        get: operations["listProjects"];
        /** Make a project */
        post: operations["createProject"];
    };
    "/api/v1/projects/{project}": {
        /** Revoke all keys of a project and mark its data for deletion */
        delete: operations["deleteProject"];
        /** Change limits and budget of a project */
        patch: operations["setProject"];
    };
    "/api/v1/keys": {
        /** Keys, in one of three orders */
        get: operations["listKeys"];
        /** Create a key, and its project if it does not exist and you may create projects */
        post: operations["createKey"];
    };
    "/api/v1/keys/{project}/{name}": {
        /** One key */
        get: operations["getKey"];
        /** Revoke a key, on every node within two seconds */
        delete: operations["revokeKey"];
        /** Change models, expiry, limits and budget of a key. Loosening them needs keys.loosen */
        patch: operations["setKey"];
    };
    "/api/v1/keys/{project}/{name}/rotate": {
        /** Rotate a key: give it a new secret. The previous one stays valid for the overlap */
        post: operations["rotateKey"];
    };
    "/api/v1/keys/{project}/{name}/previous": {
        /** End the overlap of a rotation now: the previous secret is refused within two seconds */
        delete: operations["endOverlap"];
    };
    "/api/v1/ledger": {
        /** How far the ledger is sealed, exported to files, and dropped from PostgreSQL */
        get: operations["getLedger"];
    };
    "/api/v1/ledger/refused": {
        /** Usage records that PostgreSQL refused for their content; they count as spent */
        get: operations["listRefusedRecords"];
    };
    "/api/v1/ledger/refused/retry": {
        /** Try again to write the usage records that PostgreSQL refused */
        post: operations["retryRefusedRecords"];
    };
    "/api/v1/resolve": {
        /** Objects that an id, or a part of a name, refers to: at most 12, each type as far as the caller may see it */
        get: operations["resolve"];
    };
    "/api/v1/playground/embeddings": {
        /**
         * Turn texts into vectors as a caller would; answers as POST /v1/embeddings does
         * @description With `x-api-key: <secret of a key>` the request runs as that key's own: its models, limits and budget apply, and its project pays.
         */
        post: operations["playEmbeddings"];
    };
    "/api/v1/playground/images/generations": {
        /**
         * Make images as a caller would; answers as POST /v1/images/generations does, also as a stream
         * @description With `x-api-key: <secret of a key>` the request runs as that key's own: its models, limits and budget apply, and its project pays.
         */
        post: operations["playImages"];
    };
    "/api/v1/playground/images/edits": {
        /**
         * Edit images as a caller would; answers as POST /v1/images/edits does, also as a stream
         * @description With `x-api-key: <secret of a key>` the request runs as that key's own: its models, limits and budget apply, and its project pays.
         */
        post: operations["playEdits"];
    };
    "/api/v1/playground/uploads": {
        /**
         * Begin a file of requests that arrives in parts; answers as POST /v1/uploads does
         * @description With `x-api-key: <secret of a key>` the request runs as that key's own: its models, limits and budget apply, and its project pays.
         */
        post: operations["playUpload"];
    };
    "/api/v1/playground/uploads/{id}/parts": {
        /**
         * Add a part of at most 64 MB; answers as POST /v1/uploads/{id}/parts does
         * @description With `x-api-key: <secret of a key>` the request runs as that key's own: its models, limits and budget apply, and its project pays.
         */
        post: operations["playUploadPart"];
    };
    "/api/v1/playground/uploads/{id}/complete": {
        /**
         * Make a file of the parts, in the order given; answers as POST /v1/uploads/{id}/complete does
         * @description With `x-api-key: <secret of a key>` the request runs as that key's own: its models, limits and budget apply, and its project pays.
         */
        post: operations["playUploadCompletion"];
    };
    "/api/v1/playground/uploads/{id}/cancel": {
        /**
         * Forget an upload and its parts; answers as POST /v1/uploads/{id}/cancel does
         * @description With `x-api-key: <secret of a key>` the request runs as that key's own: its models, limits and budget apply, and its project pays.
         */
        post: operations["playUploadCancel"];
    };
    "/api/v1/webhook-events": {
        /** Events that were sent, or are to be sent, to webhooks of projects, newest first */
        get: operations["listWebhookEvents"];
    };
    "/api/v1/credentials": {
        /** The source of the credential of each upstream; never the credential itself */
        get: operations["listCredentials"];
    };
    "/api/v1/credentials/{upstream}": {
        /** Store the credential of an upstream, for its present base URL; null deletes it */
        put: operations["putCredential"];
    };
    "/api/v1/alerts/summary": {
        /** Incidents, notices and rules in figures */
        get: operations["alertSummary"];
    };
    "/api/v1/alerts/incidents": {
        /** Incidents, those that are open first, then the newest first */
        get: operations["listAlertIncidents"];
    };
    "/api/v1/alerts/incidents/{id}": {
        /** One incident, with every try to send its notices */
        get: operations["getAlertIncident"];
    };
    "/api/v1/alerts/preview": {
        /** What a notice of a kind looks like in each kind of channel */
        get: operations["previewAlert"];
    };
    "/api/v1/alerts/mute": {
        /** Hold all notices until then, also those of PagerDuty. What starts and ends meanwhile is not sent */
        put: operations["muteAlerts"];
    };
    "/api/v1/alerts/rules": {
        /** Alert rules of torana.yaml and of the store, and what a new one of each kind begins with */
        get: operations["listAlertRules"];
        /** Make an alert rule */
        post: operations["createAlertRule"];
    };
    "/api/v1/alerts/rules/{id}": {
        /** Delete an alert rule of the store. Its open incidents end */
        delete: operations["deleteAlertRule"];
        /** Change an alert rule of the store */
        patch: operations["changeAlertRule"];
    };
    "/api/v1/alerts/channels": {
        /** Alert channels with their last delivery and what waits for them */
        get: operations["listAlertChannels"];
        /** Make an alert channel */
        post: operations["createAlertChannel"];
    };
    "/api/v1/alerts/channels/{id}": {
        /** Delete an alert channel of the store, with the notices that wait for it. No rule may name it any more */
        delete: operations["deleteAlertChannel"];
        /** Change an alert channel of the store */
        patch: operations["changeAlertChannel"];
    };
    "/api/v1/alerts/channels/{id}/retry": {
        /** Try at once to send what waits for a channel */
        post: operations["retryAlertChannel"];
    };
    "/api/v1/alerts/channels/{id}/test": {
        /** Send a test to a channel now, also at quiet hours */
        post: operations["testAlertChannel"];
    };
    "/api/v1/audit": {
        /** The audit log: what was changed, who changed it and when, newest first. Each entry is checked against the one before it */
        get: operations["listAudit"];
    };
    "/api/v1/audit/export": {
        /** The entries of the audit log as lines of JSON, newest first */
        get: operations["exportAudit"];
    };
    "/api/v1/session": {
        /** Who you are, what you may do, and where you are */
        get: operations["getSession"];
        /** Sign in with a mail address and a password. The answer sets the cookie of the session */
        post: operations["signIn"];
        /** Sign out: the session ends on every node */
        delete: operations["signOut"];
    };
    "/api/v1/session/options": {
        /** How one can sign in from here */
        get: operations["getSignInOptions"];
    };
    "/api/v1/session/first-run": {
        /** Become the first admin, by the link that a node prints until the first member exists */
        post: operations["firstRun"];
    };
    "/api/v1/session/all": {
        /** End all sessions of this member, this one too */
        delete: operations["signOutEverywhere"];
    };
    "/api/v1/session/password": {
        /** Change your password. All sessions end, and a new one begins */
        put: operations["changePassword"];
    };
    "/api/v1/session/oidc": {
        /** Sends the browser to the identity provider */
        get: operations["beginSignOn"];
    };
    "/api/v1/session/oidc/callback": {
        /** Where the identity provider sends the browser back to */
        get: operations["endSignOn"];
    };
    "/api/v1/members": {
        /** People who sign in to the console, by mail address */
        get: operations["listMembers"];
    };
    "/api/v1/members/{id}": {
        /** Change the role, the projects or the name of a member, or disable it */
        patch: operations["setMember"];
    };
    "/api/v1/members/{id}/sessions": {
        /** End all sessions of a member, on every node within two seconds */
        delete: operations["endSessions"];
    };
    "/api/v1/invitations": {
        /** Invitations that are not accepted yet, by email address */
        get: operations["listInvitations"];
        /** Invite a person by a link that you hand over; it works once, for seven days. To a member with a password it is the way to a new one */
        post: operations["invite"];
    };
    "/api/v1/invitations/{email}": {
        /** Withdraw an invitation: its link no longer works */
        delete: operations["withdrawInvitation"];
    };
    "/api/v1/invitations/look": {
        /** The person that an invitation is for. The link goes into the body, so that no log has it */
        post: operations["lookAtInvitation"];
    };
    "/api/v1/invitations/accept": {
        /** Accept an invitation: choose a name and a password, and be signed in */
        post: operations["acceptInvitation"];
    };
    "/api/v1/sign-on": {
        /** The sign-on by an identity provider, without its secret */
        get: operations["getSignOn"];
        /** Set up the sign-on. The secret is kept encrypted, and goes to the issuer alone */
        put: operations["putSignOn"];
        /** Turn the sign-on off and forget its secret. Sessions go on */
        delete: operations["dropSignOn"];
    };
    "/api/v1/sign-on/test": {
        /** An address that walks through the sign-on and shows the claims, without signing in */
        post: operations["testSignOn"];
    };
    "/api/v1/tokens": {
        /** Tokens of programs at the control API, by name; never their secrets */
        get: operations["listTokens"];
        /** Make a token for a program */
        post: operations["createToken"];
    };
    "/api/v1/tokens/{name}": {
        /** Revoke a token, on every node within two seconds */
        delete: operations["revokeToken"];
    };
    "/api/v1/settings": {
        /** How this install is set up, what it keeps for how long, and what it is made of */
        get: operations["getSettings"];
    };
    "/api/v1/nodes": {
        /** Nodes that write to the ledger, and nodes that ended in the last days */
        get: operations["listNodes"];
    };
    "/api/v1/nodes/{id}/end": {
        /** End a node whose machine is gone, and return its budget leases */
        post: operations["endNode"];
    };
    "/api/v1/doctor": {
        /** Compare the ledger with its sums; correct budgets that differ */
        get: operations["doctor"];
    };
    "/api/v1/backup": {
        /** All that the store keeps, as one gzip file for `torana restore`. It holds digests of keys, never keys */
        post: operations["makeBackup"];
    };
    "/api/v1/usage/export": {
        /** Usage as CSV or NDJSON; the last line holds the SHA-256 of all lines before it */
        get: operations["exportUsage"];
    };
    "/api/v1/usage": {
        /** What was used and spent, by model, deployment, project, key, user or tag, in hours or days */
        get: operations["getUsage"];
    };
    "/api/v1/budgets": {
        /** Budgets of projects and keys with what they have spent, the fullest first */
        get: operations["listBudgets"];
    };
    "/api/v1/budgets/{id}": {
        /** One budget, with who spends it, its marks and what was refused for it */
        get: operations["getBudget"];
    };
    "/api/v1/budgets/{id}/series": {
        /** What was spent in this window, hour by hour; day by day where it is longer than 62 days */
        get: operations["budgetSeries"];
    };
    "/api/v1/unknowns": {
        /** Calls that may or may not have been charged, and those that were resolved */
        get: operations["listUnknowns"];
    };
    "/api/v1/unknowns/{request_id}/{attempt}": {
        /** Resolve a call with an unknown outcome: it was paid, or it was not */
        post: operations["resolveUnknown"];
    };
    "/api/v1/prices": {
        /** What each deployment costs and who says so, those without a price first */
        get: operations["listPrices"];
    };
    "/api/v1/prices/{deployment}": {
        /** Set what a deployment costs, where torana.yaml says nothing. It counts from now on */
        put: operations["setPrice"];
        /** Take back a price that was set here. The price of the catalog counts again, if it has one */
        delete: operations["forgetPrice"];
    };
    "/api/v1/price-changes": {
        /** When the price of a deployment changed, and who changed it */
        get: operations["listPriceChanges"];
    };
    "/api/v1/catalog": {
        /** The catalogue of facts and prices of this version, and how old its facts are */
        get: operations["getCatalog"];
    };
    "/api/v1/routing/{model}": {
        /** Where the calls of a model go, and what of it can be changed */
        get: operations["routingOfModel"];
    };
    "/api/v1/configuration/preview": {
        /** What changes of upstreams and models would do: lines of torana.yaml, problems and effects. Nothing is saved */
        post: operations["previewConfiguration"];
    };
    "/api/v1/configuration/changes": {
        /** Changes of upstreams and models, here and in torana.yaml, newest first */
        get: operations["listConfigurationChanges"];
        /** Save changes of upstreams and models, all or none. All nodes have them within two seconds */
        post: operations["changeConfiguration"];
    };
    "/api/v1/configuration/changes/{id}/reverse": {
        /** The changes that would take one back, from what the store holds now */
        get: operations["reverseOfChange"];
    };
    "/api/v1/configuration/changes/{id}/revert": {
        /** Take a change back, which is a change itself. Refused when one of its objects changed since */
        post: operations["revertChange"];
    };
    "/api/v1/configuration/export": {
        /** torana.yaml with the upstreams, models, prices, projects, keys and alerts of the store. Secrets are left out: it names a variable for each */
        get: operations["exportConfiguration"];
    };
    "/api/v1/spaces": {
        /** The vector space of each embedding model, and the state of its deployments */
        get: operations["listSpaces"];
    };
    "/api/v1/spaces/{model}/series": {
        /**
         * The probes of the deployments of a model, newest first
         * @description Every probe of all texts and images, and those of deployments in use that were outside the space.
         */
        get: operations["spaceSeries"];
    };
    "/api/v1/spaces/{model}/slots": {
        /** The worst probe of each slot of time, for charts over weeks, newest first */
        get: operations["spaceSlots"];
    };
    "/api/v1/spaces/{model}/accept": {
        /** Accept the present space of a deployment as the space of the model. The space gets a new id, also for the models that share it; earlier vectors no longer match */
        post: operations["acceptSpace"];
    };
    "/api/v1/spaces/{model}/probe": {
        /** Probe all deployments of a model now, instead of within 15 minutes */
        post: operations["probeSpace"];
    };
    "/api/v1/spaces/suspects": {
        /** Times in which a deployment may have answered with vectors of another space, newest first */
        get: operations["listSuspectWindows"];
    };
    "/api/v1/spaces/suspects/{id}/vectors": {
        /** The requests and lines of batches that got vectors of a suspect window, oldest first */
        get: operations["listSuspectVectors"];
    };
    "/api/v1/events": {
        /**
         * What happens now, as server-sent events: one stream for all topics that a page shows
         * @description Topics need a permission each: `flows` and `attention` overview.read, `deployment` deployments.read, `request`, `key` and `job` requests.read, `batch` batches.read. A comment comes every 15 s. The stream ends within two seconds of a change of its caller’s rights. Nothing is repeated: after a reconnect, ask for the page again.
         */
        get: operations["events"];
    };
    "/api/v1/overview": {
        /** What is going on now: flows, deployments, what needs attention, and the traffic of a span of time */
        get: operations["overview"];
    };
    "/api/v1/deployments": {
        /** All deployments, model by model: state, load, latency, failures and the last day */
        get: operations["listDeployments"];
    };
    "/api/v1/deployments/{id}": {
        /** One deployment */
        get: operations["getDeployment"];
    };
    "/api/v1/deployments/{id}/history": {
        /** What became of a deployment over time: the worst state, calls, latency and limit of each slot, and its events */
        get: operations["deploymentHistory"];
    };
    "/api/v1/deployments/{id}/test": {
        /** Try a deployment with one call: the text `ping`, or its smallest image. Billed to the project `system` */
        post: operations["testDeployment"];
    };
    "/api/v1/deployments/{id}/drain": {
        /** Send a deployment no more calls, or take it back. Calls in progress end; all nodes follow within two seconds */
        post: operations["drainDeployment"];
    };
    "/api/v1/models": {
        /** All models with their deployments, abilities, prices and figures */
        get: operations["listModels"];
        /** Serve models of an upstream, from the store. All nodes serve them within two seconds */
        post: operations["addModels"];
    };
    "/api/v1/models/{id}": {
        /** One model: what each deployment does with each option, and who gets a call */
        get: operations["getModel"];
        /** Stop serving a model of the store. What it cost stays in the ledger */
        delete: operations["deleteModel"];
    };
    "/api/v1/requests": {
        /**
         * What became of each request, newest first unless sorted otherwise
         * @description A page may hold fewer rows than `limit`, or none, and still have a `next`: one page looks at 250,000 requests at most.
         */
        get: operations["listRequests"];
    };
    "/api/v1/requests/histogram": {
        /** How many requests ended how, over time */
        get: operations["requestHistogram"];
    };
    "/api/v1/requests/{id}": {
        /** One request: its steps, its calls and its cost lines. When its log was deleted: its rows in the ledger */
        get: operations["getRequest"];
    };
    "/api/v1/image-jobs": {
        /** Image jobs, newest first: how far each is, and what it made */
        get: operations["listImageJobs"];
    };
    "/api/v1/assets/{id}/content": {
        /** The bytes of an image that was made, or a small copy of it */
        get: operations["assetContent"];
    };
    "/api/v1/batches": {
        /** Batches, newest first: how far each is, and what it has cost so far */
        get: operations["listBatches"];
        /** Run the requests of a file in the background. The same `Idempotency-Key` is the same batch */
        post: operations["createBatch"];
    };
    "/api/v1/batches/{id}": {
        /** One batch: how fast it goes, and how its lines failed */
        get: operations["getBatch"];
    };
    "/api/v1/batches/{id}/cancel": {
        /** Begin nothing more of a batch. What is done is kept; nothing happens to one that has ended */
        post: operations["cancelBatch"];
    };
    "/api/v1/batches/{id}/continue": {
        /** Let a batch go on whose key was revoked or has expired: from now on under the terms of its project. Nothing happens to one that was cancelled or has ended */
        post: operations["continueBatch"];
    };
    "/api/v1/batches/{id}/pause": {
        /** Begin nothing more of a batch until a person resumes it. Its window goes on; nothing happens to one that was cancelled or has ended */
        post: operations["pauseBatch"];
    };
    "/api/v1/batches/{id}/resume": {
        /** End the pause of a batch, whether a person made it or Torana: it is tried at once */
        post: operations["resumeBatch"];
    };
    "/api/v1/batches/{id}/output": {
        /** The output file of a batch, whole or a range of it; of one that still runs, as far as it is there */
        get: operations["batchOutput"];
    };
    "/api/v1/batches/{id}/errors": {
        /** The error file of a batch, whole or a range of it; of one that still runs, as far as it is there */
        get: operations["batchErrors"];
    };
    "/api/v1/providers": {
        /** The providers and server families that Torana has built-in facts about */
        get: operations["listProviders"];
    };
    "/api/v1/upstreams": {
        /** All upstreams, of torana.yaml and of the store */
        get: operations["listUpstreams"];
        /** Keep an upstream and its credential in the store */
        post: operations["createUpstream"];
    };
    "/api/v1/upstreams/check": {
        /** Ask an upstream for its models, with their list prices. Nothing is kept */
        post: operations["checkUpstream"];
    };
    "/api/v1/upstreams/{name}": {
        /** Take an upstream of the store away, with its credential. No model may run on it any more */
        delete: operations["deleteUpstream"];
        /** Change an upstream of the store, or its credential */
        patch: operations["changeUpstream"];
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @example {
         *       "token": "the token of the invitation",
         *       "name": "Li Wei",
         *       "password": "a long passphrase"
         *     }
         */
        AcceptanceInput: {
            token: string;
            name: string;
            password: string;
        };
        AlertChannel: {
            /**
             * @description `configuration`: declared in torana.yaml. Only what the store manages can be changed here.
             * @enum {string}
             */
            managed_by: "configuration" | "store" | "built-in";
            /** @description `torana.yaml:88`. null: it has no line in the file. */
            managed_at: string | null;
            id: string;
            name: string;
            /** @enum {string} */
            kind: "slack" | "teams" | "pagerduty" | "email" | "webhook";
            /** @description What people recognise it by, such as `hooks.slack.com/…/x9Qd`. */
            masked: string;
            /** @description Whether quiet hours of rules hold its notices. */
            quiet_hours: boolean;
            /** @description The last try, or test. null: there was none. */
            last: components["schemas"]["AlertDelivery"] | null;
            failing_since: string | null;
            /** @description Notices that are due and have not arrived. */
            queued: number;
            /** @description The next try of a failing channel. */
            next_at: string | null;
            /** @description The number of the next try. */
            attempt: number;
        };
        /**
         * @example {
         *       "name": "torana-night"
         *     }
         */
        AlertChannelChangeInput: {
            name?: string;
            quiet_hours?: boolean;
            /**
             * Format: uri
             * @description Another address of PagerDuty needs `routing_key` too, which is sent there.
             */
            url?: string;
            /** @description Whether the address may be private, and plain http. Only an admin may allow it. */
            private?: boolean;
            secret?: string;
            routing_key?: string;
            to?: string[];
        };
        AlertChannelList: {
            data: components["schemas"]["AlertChannel"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
            /** @description Whether a mail server is configured (SMTP_URL, SMTP_FROM). */
            email: boolean;
        };
        AlertDelivery: {
            /** Format: date-time */
            at: string;
            test: boolean;
            ok: boolean;
            /** @description null: there was no answer, or the channel has none. */
            status: number | null;
            ms: number;
            attempt: number;
            /** @description null: it arrived. */
            problem: string | null;
        };
        AlertIncident: {
            id: string;
            rules: string[];
            kind: components["schemas"]["AlertKind"];
            scope: components["schemas"]["AlertScope"];
            /** @enum {string} */
            severity: "critical" | "drift" | "warning";
            title: string;
            /** @description What the notice says. */
            lines: string[];
            /** @description What it consists of, such as deployments. */
            subjects: string[];
            figures: {
                [key: string]: string | number;
            };
            /** @description The page of the console that shows more. */
            path: string;
            /** @description Alerts that this incident stands for. */
            grouped: number;
            /** Format: date-time */
            started_at: string;
            ended_at: string | null;
            notices: components["schemas"]["AlertNotice"][];
        };
        AlertIncidentDetail: {
            id: string;
            rules: string[];
            kind: components["schemas"]["AlertKind"];
            scope: components["schemas"]["AlertScope"];
            /** @enum {string} */
            severity: "critical" | "drift" | "warning";
            title: string;
            /** @description What the notice says. */
            lines: string[];
            /** @description What it consists of, such as deployments. */
            subjects: string[];
            figures: {
                [key: string]: string | number;
            };
            /** @description The page of the console that shows more. */
            path: string;
            /** @description Alerts that this incident stands for. */
            grouped: number;
            /** Format: date-time */
            started_at: string;
            ended_at: string | null;
            notices: components["schemas"]["AlertNotice"][];
            deliveries: {
                /** Format: date-time */
                at: string;
                test: boolean;
                ok: boolean;
                /** @description null: there was no answer, or the channel has none. */
                status: number | null;
                ms: number;
                attempt: number;
                /** @description null: it arrived. */
                problem: string | null;
                channel: string;
                phase: ("start" | "worse" | "end" | "past") | null;
            }[];
        };
        AlertIncidentList: {
            data: components["schemas"]["AlertIncident"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        /** @enum {string} */
        AlertKind: "budget" | "ejected" | "space" | "error_rate" | "latency" | "unknowns" | "spool" | "certificate" | "node_down" | "ledger_stalled";
        AlertKindFields: {
            kind: components["schemas"]["AlertKind"];
            /** @description Whether a rule can watch one project, or each of them. */
            projects: boolean;
            fields: {
                field: string;
                initial: number | number[];
                min: number;
                max: number;
            }[];
        };
        /** @enum {string} */
        AlertKindInput: "budget" | "ejected" | "space" | "error_rate" | "latency" | "unknowns" | "spool" | "certificate" | "node_down" | "ledger_stalled";
        /**
         * @example {
         *       "until": "2026-11-18T12:00:00Z"
         *     }
         */
        AlertMuteInput: {
            /** @description null: no longer. */
            until: string | null;
        };
        AlertNotice: {
            /**
             * @description `worse`: a further mark was reached. `past`: it started and ended while quiet hours held its notice.
             * @enum {string}
             */
            phase: "start" | "worse" | "end" | "past";
            channel: string;
            /** @description When it arrived. null: it has not. */
            at: string | null;
            /** @description The end of the quiet hours, or of the mute, that hold or held it. */
            held_until: string | null;
            /**
             * @description `dropped`: its channel was deleted, or all was muted while it happened.
             * @enum {string}
             */
            outcome: "waiting" | "sent" | "given-up" | "dropped";
        };
        AlertPreview: {
            kind: components["schemas"]["AlertKind"];
            title: string;
            /** @enum {string} */
            severity: "critical" | "drift" | "warning";
            lines: string[];
            installation: string;
            link: string | null;
            shapes: {
                slack: unknown;
                teams: unknown;
                pagerduty: unknown;
                email: unknown;
                webhook: unknown;
            };
        };
        AlertRule: {
            /**
             * @description `configuration`: declared in torana.yaml. Only what the store manages can be changed here.
             * @enum {string}
             */
            managed_by: "configuration" | "store" | "built-in";
            /** @description `torana.yaml:88`. null: it has no line in the file. */
            managed_at: string | null;
            id: string;
            /** @description Empty: it is shown by its kind. */
            name: string;
            on: boolean;
            kind: components["schemas"]["AlertKind"];
            condition: {
                [key: string]: number | number[];
            };
            scope: components["schemas"]["AlertScope"];
            /** @description Ids of channels. */
            channels: string[];
            /** @description When its notices wait. null: never. */
            quiet: components["schemas"]["QuietHours"] | null;
            /** @description When it last started an incident. */
            last_at: string | null;
        };
        /**
         * @example {
         *       "on": false
         *     }
         */
        AlertRuleChangeInput: {
            name?: string;
            on?: boolean;
            /** @description Fields that are left out keep theirs. */
            condition?: {
                [key: string]: number | number[];
            };
            scope?: components["schemas"]["AlertScopeInput"];
            channels?: string[];
            quiet?: components["schemas"]["QuietHoursInput"] | null;
        };
        AlertRuleList: {
            data: components["schemas"]["AlertRule"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
            /** @description What a new rule of each kind begins with. */
            kinds: components["schemas"]["AlertKindFields"][];
        };
        AlertScope: {
            /** @constant */
            installation: true;
        } | {
            /** @description `*`: each project separately. */
            project: string;
        };
        AlertScopeInput: {
            /** @constant */
            installation: true;
        } | {
            /** @description `*`: each project separately. */
            project: string;
        };
        AlertSummary: {
            open: number;
            /** @description Of those that are open. */
            critical: number;
            resolved_7d: number;
            /** @description How long incidents of the last 7 days lasted. */
            median_minutes: number | null;
            notifications_7d: number;
            delivered: number;
            /** @description Notices that were tried and have not arrived. */
            retrying: number;
            /** @description From the start of an incident to the arrival of its notice, of the last 7 days. */
            p95_notify_ms: number | null;
            rules_on: number;
            rules_off: number;
            muted_until: string | null;
        };
        Attempt: {
            attempt: number;
            /** Format: uuid */
            call_id: string;
            deployment: string;
            /** @description Which part of a split request, from 0. */
            part: number;
            inputs: number;
            start_ms: number;
            waited_ms: number;
            first_byte_ms: number | null;
            duration_ms: number;
            /** @description `ok`, or the kind of failure. */
            outcome: string;
            status: number | null;
            reason: string | null;
            retry_after_ms: number | null;
            upstream_request_id: string | null;
            /** @description The attempt that it was made in place of. */
            instead_of: number | null;
            /** @description Other requests in the same call. */
            shared_with: number;
        };
        /** @description What a person should look at. The words are made of `kind` and `figures`. */
        Attention: {
            id: string;
            /** @enum {string} */
            kind: "deployment_ejected" | "deployment_rejected_us" | "space_left" | "space_warned" | "unknowns_open" | "usage_above_expected" | "budget_mark" | "budget_used_up" | "deployment_unpriced" | "unpriced_refused" | "model_retired_used" | "model_ends" | "key_idle" | "key_ends" | "node_silent" | "spool_waiting" | "store_away" | "doctor_wrong" | "webhook_given_up" | "partition_missing" | "labels_overflowed" | "ledger_stalled";
            /** @enum {string} */
            severity: "bad" | "odd" | "warn" | "off";
            /** Format: date-time */
            since: string;
            subject: {
                /** @enum {string} */
                type: "deployment" | "model" | "key" | "budget" | "node" | "store" | "unknowns" | "project";
                id: string;
            };
            figures: {
                [key: string]: string | number;
            };
        };
        AuditChain: {
            entries: number;
            /** @description How many of them, from the first on, this node has verified within the hour. */
            verified: number;
            intact: boolean;
            /** @description Store it elsewhere: a log whose end was cut off then shows. */
            last_hash: string;
            /** @description The sequence of the first entry that was changed or removed. */
            broken_at: number | null;
        };
        AuditEntry: {
            sequence: number;
            /** Format: date-time */
            at: string;
            /** @description A mail address, the name of a token, or `system`. */
            actor: string;
            /** @description `node`: a token of the node itself. null: the entry is older than this field. */
            actor_kind: ("member" | "token" | "node" | "system") | null;
            /** @description Where the request came from. */
            address: string | null;
            action: string;
            target: string;
            detail: {
                [key: string]: unknown;
            };
            hash: string;
            /** @description False if this entry was changed, or if the one before it was changed or removed. */
            intact: boolean;
            /**
             * @description Whether the hash is signed with a key of this node, with another key, or not at all. A signature also covers all entries before it.
             * @enum {string}
             */
            proof: "keyed" | "other_key" | "unkeyed";
        };
        AuditList: {
            data: components["schemas"]["AuditEntry"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
            chain: components["schemas"]["AuditChain"];
        };
        /**
         * @example {
         *       "pictures": true
         *     }
         */
        BackupInputInput: {
            /**
             * @description With the images of `ASSETS_URL`.
             * @default false
             */
            pictures: boolean;
        };
        BatchPause: {
            /** @description The code of a fault; `paused_by_person`: a person paused it. */
            code: string;
            /** @description Why it waits, and what ends the pause. */
            text: string;
            /** @description When Torana tries again at the earliest. null: it waits for a person. */
            until: string | null;
            /** @description The person who paused it. */
            by: string | null;
            /** @description When that person paused it. */
            at: string | null;
            /** @description That person's words. */
            reason: string | null;
            remedy: {
                /**
                 * @description The next step.
                 * @enum {string}
                 */
                kind: "resume" | "raise_budget" | "continue" | "free_storage" | "check_space" | "check_upstream" | "wait";
                project: string;
                key: string;
                model: string | null;
            };
        };
        /**
         * @example {
         *       "reason": "The index is being rebuilt."
         *     }
         */
        BatchPauseRequestInput: {
            /** @description Shown to others, and kept in the audit. */
            reason?: string;
        };
        Budget: {
            /** @description US dollars, with nine decimals. */
            usd: string;
            /** @enum {string} */
            per: "day" | "week" | "month" | "total";
            hard: boolean;
        };
        BudgetChangeInput: {
            usd: number | string;
            /**
             * @default month
             * @enum {string}
             */
            per: "day" | "week" | "month" | "total";
            /** @default false */
            hard: boolean;
        };
        BudgetDetail: {
            /** @description `project:ads` or `key:ads/website`. */
            id: string;
            /** @enum {string} */
            scope: "project" | "key";
            name: string;
            /** @enum {string} */
            managed_by: "configuration" | "store" | "built-in";
            /** @description Such as `torana.yaml:88`. */
            managed_at: string | null;
            /** @description US dollars, with nine decimals. */
            limit_usd: string;
            /** @enum {string} */
            per: "day" | "week" | "month" | "total";
            /** @description It refuses what does not fit. A soft one only tells. */
            hard: boolean;
            window: {
                /** Format: date-time */
                start: string;
                end: string | null;
            };
            /** @description US dollars, with nine decimals. */
            spent_usd: string;
            /** @description Of it: reserved for calls with an unknown outcome. */
            unknown_usd: string;
            /** @description US dollars, with nine decimals. */
            left_usd: string;
            /** @description Of what is left: what nodes may spend without asking. */
            leased_usd: string;
            /** @description What is left covered no request that callers sent in the last hour, or not all of them. */
            refuses: boolean;
            /** @description From the last seven days, by weekday. null: there are fewer than three days to tell from. */
            forecast: {
                /** @description null: not in this window. */
                used_up_at: string | null;
                /** @description At the pace of a busy day: the 80th percentile of the last seven. */
                earliest: string | null;
                /** @description At the pace of a quiet day: the 20th percentile. */
                latest: string | null;
                /** @description What is spent at the end of the window. null: it has none. */
                at_end_usd: string | null;
            } | null;
            marks: {
                percent: 50 | 80 | 100;
                /**
                 * Format: date-time
                 * @description When it was passed: to the hour, unless a webhook was notified.
                 */
                at: string;
                /** @description Hosts of webhooks that were notified. */
                told: string[];
            }[];
            /** @description Requests of this window that were refused, as far as the request log goes back. */
            refused: {
                budget_exhausted: number;
                budget_reserved: number;
                model_unpriced: number;
            };
            spenders: {
                key: string;
                /** @description US dollars, with nine decimals. */
                usd: string;
                models: string[];
            }[];
        };
        BudgetList: {
            data: components["schemas"]["BudgetStanding"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        BudgetSeries: {
            data: {
                /** Format: date-time */
                at: string;
                /** @description US dollars, with nine decimals. */
                spent_usd: string;
            }[];
            /** @constant */
            has_more: false;
            next: null;
        };
        BudgetStanding: {
            /** @description `project:ads` or `key:ads/website`. */
            id: string;
            /** @enum {string} */
            scope: "project" | "key";
            name: string;
            /** @enum {string} */
            managed_by: "configuration" | "store" | "built-in";
            /** @description Such as `torana.yaml:88`. */
            managed_at: string | null;
            /** @description US dollars, with nine decimals. */
            limit_usd: string;
            /** @enum {string} */
            per: "day" | "week" | "month" | "total";
            /** @description It refuses what does not fit. A soft one only tells. */
            hard: boolean;
            window: {
                /** Format: date-time */
                start: string;
                end: string | null;
            };
            /** @description US dollars, with nine decimals. */
            spent_usd: string;
            /** @description Of it: reserved for calls with an unknown outcome. */
            unknown_usd: string;
            /** @description US dollars, with nine decimals. */
            left_usd: string;
            /** @description Of what is left: what nodes may spend without asking. */
            leased_usd: string;
            /** @description What is left covered no request that callers sent in the last hour, or not all of them. */
            refuses: boolean;
            /** @description From the last seven days, by weekday. null: there are fewer than three days to tell from. */
            forecast: {
                /** @description null: not in this window. */
                used_up_at: string | null;
                /** @description At the pace of a busy day: the 80th percentile of the last seven. */
                earliest: string | null;
                /** @description At the pace of a quiet day: the 20th percentile. */
                latest: string | null;
                /** @description What is spent at the end of the window. null: it has none. */
                at_end_usd: string | null;
            } | null;
        };
        Catalog: {
            /** @description The newest day on which a fact of it was read. */
            date: string;
            /** @description Where the facts about each deployment come from. */
            data: components["schemas"]["CatalogDeploymentFacts"][];
            /** @description How many of them were read more than 120 days ago. */
            old_facts: number;
        };
        CatalogDeploymentFacts: {
            model: string;
            deployment: string;
            /** @description Widths, limits and options. null: torana.yaml alone has them. */
            facts: components["schemas"]["CatalogFact"] | null;
            /** @description null: the price is not one of the catalogue. */
            price: components["schemas"]["CatalogFact"] | null;
            /** @description null: no end is announced, or its source is not the catalogue. */
            end: components["schemas"]["CatalogFact"] | null;
        };
        CatalogFact: {
            source: string | null;
            /** @description The day on which it was read. */
            as_of: string;
            /** @description It was read more than 120 days ago. */
            is_old: boolean;
        };
        ChangedKey: {
            /** @description `<project>/<name>`. */
            id: string;
            project: string;
            name: string;
            /**
             * @description `configuration`: declared in torana.yaml or the environment, and read-only here.
             * @enum {string}
             */
            managed_by: "configuration" | "store";
            /** @description Where it is declared: `torana.yaml:88`, or `environment`. null: in the store. */
            managed_at: string | null;
            /** @description null: all. */
            models: string[] | null;
            /** @description null: everything. */
            scopes: ("embeddings" | "images" | "edits")[] | null;
            max_calls_at_once: number | null;
            /** @description null: everywhere. */
            addresses: string[] | null;
            limits: components["schemas"]["Limits"];
            budget: components["schemas"]["Budget"] | null;
            expires_at: string | null;
            revoked_at: string | null;
            /** @description It was revoked because a stranger may have its secret. */
            leaked: boolean;
            first_used_at: string | null;
            /** @description Accurate to a minute. */
            last_used_at: string | null;
            created_at: string | null;
            /** @description Newest first. */
            secrets: components["schemas"]["KeySecret"][];
            /** @description What is worth a look. */
            notes: ("idle" | "no_expiry" | "no_limit" | "ends_soon" | "rotating" | "old_pepper")[];
        };
        ChangedObject: {
            /** @enum {string} */
            object: "upstream" | "model";
            name: string;
            renamed_from: string | null;
            /** @description null: it was not there. */
            before: {
                [key: string]: unknown;
            } | null;
            /** @description null: it is deleted. */
            after: {
                [key: string]: unknown;
            } | null;
        };
        ChangedPrice: {
            deployment: string;
            model: string;
            /** @enum {string} */
            kind: "embedding" | "image";
            /** @description As `price` in torana.yaml: `free`, `unpriced`, or fields such as `usdPerMillionTokens`. */
            price: string | {
                [key: string]: unknown;
            };
            text: components["schemas"]["PriceText"][];
            /**
             * @description `configuration`: torana.yaml decides, and the price is changed there.
             * @enum {string}
             */
            from: "configuration" | "store" | "catalog" | "none";
            /** @description Such as `torana.yaml:88`. */
            managed_at: string | null;
            /** @description The day of a price of the catalog, or on which it was set. */
            as_of: string | null;
            /** @description A price of the catalogue that was read more than 120 days ago. */
            is_old: boolean;
            /** @description Where a price of the catalog was read. */
            source: string | null;
            /** @description Who set it here. */
            set_by: string | null;
        };
        ChangedProject: {
            name: string;
            /**
             * @description `configuration`: declared in torana.yaml or the environment, and read-only here.
             * @enum {string}
             */
            managed_by: "configuration" | "store";
            /** @description Where it is declared: `torana.yaml:88`, or `environment`. null: in the store. */
            managed_at: string | null;
            limits: components["schemas"]["Limits"];
            budget: components["schemas"]["Budget"] | null;
            created_at: string | null;
        };
        ChangedUpstream: {
            /**
             * @description `configuration`: declared in torana.yaml. Only what the store manages can be changed here.
             * @enum {string}
             */
            managed_by: "configuration" | "store" | "built-in";
            /** @description `torana.yaml:88`. null: it has no line in the file. */
            managed_at: string | null;
            name: string;
            provider: string | null;
            dialect: string;
            /** @description Where calls go. */
            base_url: string;
            credential: {
                /** @enum {string} */
                source: "configuration" | "store" | "none";
                /** @description The last characters of a stored secret. */
                tail: string | null;
                updated_at: string | null;
            };
            /** @description Ids of what runs on it. */
            deployments: string[];
            /** @description Models that run on it. */
            models: number;
            source: components["schemas"]["Source"];
        };
        Checked: {
            ok: boolean;
            duration_ms: number;
            fault: {
                code: string;
                message: string;
            } | null;
            /** @description false: this kind of upstream has no list. The models are those that Torana knows of it. */
            listed: boolean;
            models: {
                id: string;
                kind: ("embedding" | "image") | null;
                /** @description false: say what it is when you add it. */
                known: boolean;
                price: components["schemas"]["PriceText"][];
                /** @description The day on which the list price was read. */
                as_of: string | null;
                width: number | null;
                narrower: (("any" | "none") | number[]) | null;
                can: {
                    [key: string]: "native" | "emulated";
                };
                /** @description Where it is declared already: `torana.yaml:14`, `store`, `built-in`. */
                served: string | null;
            }[];
        };
        ConfigurationChange: {
            /** @constant */
            object: "upstream";
            name: string;
            /** @description It keeps its key, prices and space checks. The ledger keeps the old name. The name may be one that another change of the set gives up. */
            rename_to?: string;
            /** @description null: delete it. */
            entry: {
                [key: string]: unknown;
            } | null;
            /** @description The revision that you changed. null: the store has no such object. */
            base: string | null;
        } | {
            /** @constant */
            object: "model";
            name: string;
            /** @description null: delete it. */
            entry: {
                [key: string]: unknown;
            } | null;
            /** @description The revision that you changed. null: the store has no such object. */
            base: string | null;
        };
        ConfigurationChangeInput: {
            /** @constant */
            object: "upstream";
            name: string;
            /** @description It keeps its key, prices and space checks. The ledger keeps the old name. The name may be one that another change of the set gives up. */
            rename_to?: string;
            /** @description null: delete it. */
            entry: {
                [key: string]: unknown;
            } | null;
            /** @description The revision that you changed. null: the store has no such object. */
            base: string | null;
        } | {
            /** @constant */
            object: "model";
            name: string;
            /** @description null: delete it. */
            entry: {
                [key: string]: unknown;
            } | null;
            /** @description The revision that you changed. null: the store has no such object. */
            base: string | null;
        };
        /**
         * @example {
         *       "changes": [
         *         {
         *           "object": "model",
         *           "name": "bge-m3",
         *           "entry": {
         *             "deployments": [
         *               {
         *                 "upstream": "gpu-one",
         *                 "weight": 70
         *               }
         *             ]
         *           },
         *           "base": "41"
         *         }
         *       ]
         *     }
         */
        ConfigurationChangesInput: {
            changes: components["schemas"]["ConfigurationChangeInput"][];
        };
        ConfigurationEffect: {
            /** @enum {string} */
            kind: "model_added" | "model_removed" | "upstream_renamed" | "share" | "fallback" | "price" | "key_dropped" | "key_deleted" | "key_missing";
            model: string | null;
            upstream: string | null;
            /** @description 0 to 1: of the calls of its tier. */
            share: number | null;
            /** @description 0 to 1: of the calls of the last 24 hours. */
            share_24h: number | null;
            /** @description `free`, `unpriced`, or dollars with their unit. */
            price: string | null;
            /** @description The new name of an upstream. */
            to: string | null;
            text: string;
        };
        ConfigurationHistory: {
            data: components["schemas"]["ConfigurationHistoryEntry"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        ConfigurationHistoryEntry: {
            /** @description null: a load of torana.yaml. */
            id: string | null;
            /** Format: date-time */
            at: string;
            /** @description A mail address, the name of a token, or torana.yaml. */
            by: string;
            /** @description The name of the member. */
            by_name: string | null;
            source: components["schemas"]["Source"];
            summary: string;
            objects: components["schemas"]["ChangedObject"][];
            /** @description The change that it takes back. */
            reverts: string | null;
            /** @description One of its objects changed later. */
            changed_since: boolean;
            /** @description It can be taken back as it is now; deleted keys do not come back. If `changed_since` prevents it, open its reverse as a draft. */
            revertible: boolean;
        };
        ConfigurationPreview: {
            /** @description Objects that would change. */
            changes: number;
            /** @description Lines. */
            added: number;
            removed: number;
            /** @description The changed lines of the exported torana.yaml with up to 30 around them. Where numbers leap, unchanged lines are left out. */
            lines: components["schemas"]["PreviewLine"][];
            /** @description There are more than 2,000 lines; these are the first. */
            is_cut: boolean;
            check: {
                ok: boolean;
                errors: {
                    /** @enum {string} */
                    object: "upstream" | "model";
                    name: string;
                    message: string;
                    /** @description Another person changed the object since its base. */
                    is_stale: boolean;
                }[];
            };
            effects: components["schemas"]["ConfigurationEffect"][];
        };
        ContentInput: {
            /** @description Parts that the model makes one vector of. */
            content: components["schemas"]["ContentPartInput"][];
        };
        ContentPartInput: {
            /** @constant */
            type: "text";
            text: string;
        } | {
            /** @constant */
            type: "image_url";
            image_url: string | {
                url: string;
            };
        } | {
            /** @constant */
            type: "input_audio";
            input_audio: {
                /** @description Base64. */
                data: string;
                format?: string;
            };
        } | {
            /** @constant */
            type: "video_url";
            video_url: string | {
                url: string;
            };
        } | {
            /** @constant */
            type: "file";
            file: {
                /** @description A data URL of a PDF. */
                file_data: string;
                filename?: string;
            };
        };
        Credential: {
            upstream: string;
            /** @description Where calls go; the secret is sent nowhere else. */
            base_url: string;
            /**
             * @description Where the credential in use comes from.
             * @enum {string}
             */
            source: "configuration" | "store" | "none";
            /** @description The base URL that a stored secret was given for. */
            stored_for: string | null;
            updated_at: string | null;
        };
        CredentialList: {
            data: components["schemas"]["Credential"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
        };
        Deployment: {
            id: string;
            model: string;
            /** @enum {string} */
            kind: "embedding" | "image";
            upstream: string;
            /** @description The worst of all nodes. */
            state: components["schemas"]["State"];
            /** @description When it is probed or called again. */
            until: string | null;
            /**
             * Format: date-time
             * @description Since when it is in this state.
             */
            since: string;
            /** @description The day on which its provider shuts the model down. null: no day is known. */
            ends_on: string | null;
            /**
             * @description `configuration`: declared in torana.yaml. Only what the store manages can be changed here.
             * @enum {string}
             */
            managed_by: "configuration" | "store" | "built-in";
            /** @description `torana.yaml:88`. null: it has no line in the file. */
            managed_at: string | null;
            /** @description The space of its model. null: it has none. */
            space_id: string | null;
            upstream_model: string;
            priority: number;
            weight: number;
            /** @description Deployments of a lower priority number are asked first. */
            stands_in: boolean;
            reason: string | null;
            drained: {
                by: string;
                reason: string;
                /** Format: date-time */
                at: string;
            } | null;
            nodes: {
                node: string;
                /** @description The worst of all nodes. */
                state: components["schemas"]["State"];
                in_flight: number;
                limit: number | null;
            }[];
            in_flight: number;
            /** @description Calls at once. null: it has no limit, or was never called. */
            limit: number | null;
            limit_is_learnt: boolean;
            /** @description A minute, for all nodes together. */
            limits: {
                /** @enum {string} */
                name: "requests" | "tokens" | "images";
                /** @description At the rate of the last ten seconds. */
                used: number;
                of: number;
            }[];
            /** @description A second, as the mean of the last ten. Requests are calls to the upstream. */
            rate: {
                requests: number;
                tokens: number;
                images: number;
            };
            /** @description Of the last 15 minutes, as are the figures below. */
            p50_ms: number | null;
            p95_ms: number | null;
            calls: number;
            failed_share: number;
            failures: {
                [key: string]: number;
            };
            space: {
                /** @enum {string} */
                state: "trusted" | "warned" | "held-back" | "quarantined" | "unguarded";
                least_cosine: number | null;
                last_good_at: string | null;
            } | null;
            price: components["schemas"]["PriceText"][];
            /** @description Keys with a hard budget, of their own or of their project, that never use it. null: there are none. */
            skipped_for: {
                keys: number;
                /** @enum {string} */
                reason: "unpriced";
            } | null;
            /** @description The worst of each half hour of a day, oldest first: `g`ood, `w`arned, `b`ad, `q`uarantined, `.` nothing. */
            cells: string;
        };
        DeploymentBrief: {
            id: string;
            model: string;
            /** @enum {string} */
            kind: "embedding" | "image";
            upstream: string;
            /** @description The worst of all nodes. */
            state: components["schemas"]["State"];
            /** @description When it is probed or called again. */
            until: string | null;
            /**
             * Format: date-time
             * @description Since when it is in this state.
             */
            since: string;
            /** @description The day on which its provider shuts the model down. null: no day is known. */
            ends_on: string | null;
        };
        DeploymentHistory: {
            slot_seconds: number;
            data: {
                /** Format: date-time */
                at: string;
                /** @description The worst of all nodes. */
                worst: components["schemas"]["State"];
                requests: number;
                failed: number;
                p95_ms: number | null;
                in_flight: number;
                limit: number | null;
            }[];
            /** @description Newest first. */
            events: {
                /** Format: date-time */
                at: string;
                /** @description The worst of all nodes. */
                state: components["schemas"]["State"];
                reason: string;
            }[];
        };
        DeploymentList: {
            data: components["schemas"]["Deployment"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
            /** @description How many nodes reported their deployments in the last seconds. */
            nodes: {
                reporting: number;
                alive: number;
            };
        };
        /**
         * @example {
         *       "max_usd": "0.01"
         *     }
         */
        DeploymentTestInput: {
            /**
             * @description The test is refused when it could cost more. null: it may cost what it costs.
             * @default null
             */
            max_usd: (number | string) | null;
        };
        Difference: {
            field: string;
            /** @enum {string} */
            how: "emulated" | "dropped" | "translated" | "absorbed";
            note: string;
        };
        DoctorReport: {
            /** Format: date-time */
            at: string;
            /**
             * @description The worst of all checks.
             * @enum {string}
             */
            verdict: "ok" | "warn" | "fail";
            checks: {
                name: string;
                /**
                 * @description `warn`: an operator should look at it. `fail`: a promise is broken, or about to be.
                 * @enum {string}
                 */
                verdict: "ok" | "warn" | "fail";
                says: string;
                figures: {
                    [key: string]: number;
                };
            }[];
        };
        DrainedDeployment: {
            id: string;
            model: string;
            /** @enum {string} */
            kind: "embedding" | "image";
            upstream: string;
            /** @description The worst of all nodes. */
            state: components["schemas"]["State"];
            /** @description When it is probed or called again. */
            until: string | null;
            /**
             * Format: date-time
             * @description Since when it is in this state.
             */
            since: string;
            /** @description The day on which its provider shuts the model down. null: no day is known. */
            ends_on: string | null;
            /**
             * @description `configuration`: declared in torana.yaml. Only what the store manages can be changed here.
             * @enum {string}
             */
            managed_by: "configuration" | "store" | "built-in";
            /** @description `torana.yaml:88`. null: it has no line in the file. */
            managed_at: string | null;
            /** @description The space of its model. null: it has none. */
            space_id: string | null;
            upstream_model: string;
            priority: number;
            weight: number;
            /** @description Deployments of a lower priority number are asked first. */
            stands_in: boolean;
            reason: string | null;
            drained: {
                by: string;
                reason: string;
                /** Format: date-time */
                at: string;
            } | null;
            nodes: {
                node: string;
                /** @description The worst of all nodes. */
                state: components["schemas"]["State"];
                in_flight: number;
                limit: number | null;
            }[];
            in_flight: number;
            /** @description Calls at once. null: it has no limit, or was never called. */
            limit: number | null;
            limit_is_learnt: boolean;
            /** @description A minute, for all nodes together. */
            limits: {
                /** @enum {string} */
                name: "requests" | "tokens" | "images";
                /** @description At the rate of the last ten seconds. */
                used: number;
                of: number;
            }[];
            /** @description A second, as the mean of the last ten. Requests are calls to the upstream. */
            rate: {
                requests: number;
                tokens: number;
                images: number;
            };
            /** @description Of the last 15 minutes, as are the figures below. */
            p50_ms: number | null;
            p95_ms: number | null;
            calls: number;
            failed_share: number;
            failures: {
                [key: string]: number;
            };
            space: {
                /** @enum {string} */
                state: "trusted" | "warned" | "held-back" | "quarantined" | "unguarded";
                least_cosine: number | null;
                last_good_at: string | null;
            } | null;
            price: components["schemas"]["PriceText"][];
        };
        /**
         * @example {
         *       "drained": true,
         *       "reason": "maintenance"
         *     }
         */
        DrainingInput: {
            drained: boolean;
            reason: string;
        };
        /**
         * @example {
         *       "object": "list",
         *       "data": [
         *         {
         *           "object": "embedding",
         *           "index": 0,
         *           "embedding": [
         *             0.048601195,
         *             -0.04893485
         *           ]
         *         }
         *       ],
         *       "model": "demo-embed",
         *       "usage": {
         *         "prompt_tokens": 3,
         *         "total_tokens": 3
         *       }
         *     }
         */
        EmbeddingAnswer: {
            /** @constant */
            object: "list";
            data: {
                /** @constant */
                object: "embedding";
                index: number;
                embedding: number[] | string;
                /** @description By type, where the request asked for several; `embedding` is the first of them. */
                embeddings?: {
                    [key: string]: number[] | string;
                };
            }[];
            /** @description The model of the request. */
            model: string;
            usage: {
                prompt_tokens: number;
                total_tokens: number;
                /** @description Tokens by kind of part, in answers to contents. */
                prompt_tokens_details?: {
                    text_tokens?: number;
                    image_tokens?: number;
                    audio_tokens?: number;
                    video_tokens?: number;
                    file_tokens?: number;
                };
            };
        } & {
            [key: string]: unknown;
        };
        Ended: {
            id: string;
            /** @description Leased budget that was returned. */
            returned_usd: string;
        };
        /**
         * @example {
         *       "force": false
         *     }
         */
        EndingInput: {
            /**
             * @description End the node even if it was seen within the last minute.
             * @default false
             */
            force: boolean;
        };
        Error: {
            error: {
                message: string;
                type: string;
                param: string | null;
                /** @enum {string} */
                code: "invalid_json" | "malformed_request" | "missing_parameter" | "invalid_parameter" | "invalid_input" | "empty_input" | "ambiguous_input" | "part_unsupported" | "parts_not_fusible" | "too_many_parts" | "invalid_media" | "media_too_large" | "media_unreachable" | "too_many_inputs" | "input_too_long" | "model_mismatch" | "unsupported_parameter" | "provenance_not_kept" | "request_not_splittable" | "upstream_refused" | "content_policy_violation" | "missing_api_key" | "invalid_api_key" | "too_many_wrong_keys" | "key_expired" | "key_revoked" | "project_deleted" | "model_not_allowed" | "scope_not_allowed" | "address_not_allowed" | "model_unpriced" | "model_not_found" | "model_retired" | "not_found" | "unknown_path" | "method_not_allowed" | "expectation_failed" | "request_timeout" | "conflict" | "space_mismatch" | "invalid_image_file" | "body_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "asset_gone" | "asset_link_invalid" | "outcome_unknown" | "headers_too_large" | "client_closed_request" | "type_unsupported" | "rate_limit_exceeded" | "too_many_calls_at_once" | "too_many_reads" | "too_many_batches" | "request_exceeds_rate_limit" | "budget_exhausted" | "budget_reserved" | "upstream_rate_limited" | "unsupported_file_purpose" | "file_too_large" | "file_unreadable" | "upload_not_pending" | "upload_mismatch" | "too_many_files" | "too_many_files_at_once" | "disk_full" | "file_store_unreachable" | "forbidden" | "wrong_host" | "configuration_changed" | "sign_in_failed" | "session_ended" | "link_invalid" | "insecure_sign_in" | "wrong_origin" | "sign_on_failed" | "too_many_sign_ins" | "internal_error" | "upstream_failed" | "upstream_unreachable" | "upstream_broken_answer" | "upstream_model_missing" | "upstream_rejected_us" | "key_store_unreachable" | "store_unreachable" | "image_store_unreachable" | "asset_store_unreachable" | "deployments_busy" | "no_healthy_deployment" | "deployments_drained" | "space_quarantined" | "space_unprobed" | "space_unknown" | "space_left" | "node_overloaded" | "node_starting" | "uploads_unwritable" | "image_files_lost" | "too_many_image_jobs" | "too_many_streams" | "too_many_exports" | "too_many_bodies" | "budget_store_unreachable" | "ledger_unavailable" | "upstream_timeout";
                request_id: string;
                doc_url: string;
                /** @description Present when an upstream failed. */
                upstream?: {
                    deployment: string;
                    status?: number;
                    request_id?: string;
                };
            };
        };
        /**
         * @example {
         *       "id": "file-0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f",
         *       "object": "file",
         *       "bytes": 2048,
         *       "created_at": 1763424000,
         *       "expires_at": 1766016000,
         *       "filename": "requests.jsonl",
         *       "purpose": "batch",
         *       "status": "processed",
         *       "status_details": null
         *     }
         */
        File: {
            id: string;
            /** @constant */
            object: "file";
            bytes: number;
            /** @description Unix seconds. */
            created_at: number;
            /** @description Unix seconds. */
            expires_at: number | null;
            filename: string;
            /** @enum {string} */
            purpose: "batch" | "batch_output";
            /** @constant */
            status: "processed";
            status_details: null;
        };
        FirstRunInput: {
            token: string;
            name: string;
            /** Format: email */
            email: string;
            password: string;
        };
        /** @description A second, as the mean of the last ten. */
        Flow: {
            key: string;
            model: string;
            /** @description null: answered from the cache. */
            deployment: string | null;
            requests: number;
            failed: number;
            tokens: number;
            images: number;
            /** @description US dollars, with nine decimals. */
            usd: string;
            p95_ms: number | null;
        };
        /** @description The log of the request was deleted. Its rows in the ledger are kept. */
        ForgottenRequest: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            at: string;
            /** @constant */
            log: "deleted";
            project: string;
            key: string;
            model: string;
            ledger: components["schemas"]["LedgerRow"][];
            /** @description US dollars, with nine decimals. */
            posted_usd: string;
        };
        /**
         * @example {
         *       "price": {
         *         "usdPerMillionTokens": "0.02"
         *       }
         *     }
         */
        GivenPriceInput: {
            /** @description As `price` in torana.yaml: `free`, `unpriced`, or fields such as `usdPerMillionTokens`. */
            price: string | {
                [key: string]: unknown;
            };
        };
        Histogram: {
            slot_seconds: number;
            total: number;
            data: {
                /** Format: date-time */
                at: string;
                answered: number;
                refused: number;
                limited: number;
                failed: number;
                unknown: number;
            }[];
            /** @description Counts over the whole range, whatever else is filtered. */
            facets: {
                outcome: {
                    [key: string]: number;
                };
                kind: {
                    [key: string]: number;
                };
                model: {
                    [key: string]: number;
                };
                key: {
                    [key: string]: number;
                };
                fault: {
                    [key: string]: number;
                };
                user: {
                    [key: string]: number;
                };
                tag: {
                    [key: string]: number;
                };
            } | null;
            /** @description There are more requests than are counted: only those from here on are. null: all are. */
            capped_at: string | null;
        };
        Hit: {
            /** @enum {string} */
            type: "request" | "batch" | "call" | "key" | "project" | "model" | "deployment" | "upstream" | "asset" | "space" | "node" | "member" | "audit";
            /** @description What its page is opened by. Of a call or an asset: the id of its request. */
            id: string;
            title: string;
            note: string;
            /** @description Of a deployment. */
            state: string | null;
        };
        HitList: {
            data: components["schemas"]["Hit"][];
            /** @constant */
            has_more: false;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        /**
         * @description With `stream: true` an event stream of `image_generation.partial_image` and `.completed` instead, `image_edit.…` for edits.
         * @example {
         *       "created": 1763424000,
         *       "data": [
         *         {
         *           "url": "http://127.0.0.1:8080/v1/assets/0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f?signature=…"
         *         }
         *       ]
         *     }
         */
        ImageAnswer: {
            /** @description Unix seconds. */
            created: number;
            data: {
                b64_json?: string;
                /** @description A signed link of this gateway, never the upstream's. */
                url?: string;
                revised_prompt?: string;
            }[];
            /** @description Present if the upstream counted tokens. */
            usage?: {
                total_tokens: number;
                input_tokens: number;
                output_tokens: number;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        Invitation: {
            email: string;
            /** @enum {string} */
            role: "developer" | "operator" | "admin";
            /** @description Of a developer: the projects that it sees. null: all. */
            projects: string[] | null;
            /** @description In the answer to POST alone. It is never shown again. */
            link?: string;
            /** Format: date-time */
            expires_at: string;
        };
        InvitationList: {
            data: components["schemas"]["Invitation"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        /**
         * @example {
         *       "token": "the token of the invitation"
         *     }
         */
        InvitationTokenInput: {
            token: string;
        };
        Key: {
            /** @description `<project>/<name>`. */
            id: string;
            project: string;
            name: string;
            /**
             * @description `configuration`: declared in torana.yaml or the environment, and read-only here.
             * @enum {string}
             */
            managed_by: "configuration" | "store";
            /** @description Where it is declared: `torana.yaml:88`, or `environment`. null: in the store. */
            managed_at: string | null;
            /** @description null: all. */
            models: string[] | null;
            /** @description null: everything. */
            scopes: ("embeddings" | "images" | "edits")[] | null;
            max_calls_at_once: number | null;
            /** @description null: everywhere. */
            addresses: string[] | null;
            limits: components["schemas"]["Limits"];
            budget: components["schemas"]["Budget"] | null;
            expires_at: string | null;
            revoked_at: string | null;
            /** @description It was revoked because a stranger may have its secret. */
            leaked: boolean;
            first_used_at: string | null;
            /** @description Accurate to a minute. */
            last_used_at: string | null;
            created_at: string | null;
            /** @description Newest first. */
            secrets: components["schemas"]["KeySecret"][];
            /** @description Of the budget, in the window that runs. null: it has no budget. */
            spent: {
                /** @description US dollars, with nine decimals. */
                usd: string;
                /** Format: date-time */
                window_start: string;
            } | null;
            /** @description Requests of each of the last thirty days in UTC, oldest first. Empty: there were none. */
            requests_30d: number[];
            requests_24h: number;
            /** @description What is worth a look. */
            notes: ("idle" | "no_expiry" | "no_limit" | "ends_soon" | "rotating" | "old_pepper")[];
        };
        /**
         * @example {
         *       "models": [
         *         "text-embedding-3-small"
         *       ],
         *       "limits": {
         *         "requests_per_minute": 600
         *       }
         *     }
         */
        KeyChangeInput: {
            /** @description Fields that are left out stay as they are. */
            limits?: components["schemas"]["LimitsChangeInput"];
            /** @description null: no budget. */
            budget?: components["schemas"]["BudgetChangeInput"] | null;
            /** @description Ids or aliases. null: all. */
            models?: string[] | null;
            /** @description What the key may be used for. null: everything. */
            scopes?: ("embeddings" | "images" | "edits")[] | null;
            /** @description Concurrent requests, on all nodes together. null: no maximum. */
            max_calls_at_once?: number | null;
            /** @description Addresses and networks that the key may be used from. null: everywhere. */
            addresses?: string[] | null;
            /** @description The key is refused from this moment on; a day means its start in UTC. */
            expires_at?: string | null;
        };
        KeyList: {
            data: components["schemas"]["Key"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
            /** @description How many keys each state has, of those that `project` and `q` let through. */
            counts: {
                active: number;
                ending: number;
                tidy: number;
                revoked: number;
            };
        };
        KeySecret: {
            /** @description Its last characters. */
            tail: string;
            /** @description The end of the overlap after a rotation. */
            valid_until: string | null;
            created_at: string | null;
            /**
             * @description `previous`: created with TORANA_SECRET_PREVIOUS and not used since; `unknown`: this node cannot recognise it.
             * @enum {string}
             */
            pepper: "current" | "previous" | "unknown";
        };
        KeyWithSecret: {
            /** @description `<project>/<name>`. */
            id: string;
            project: string;
            name: string;
            /**
             * @description `configuration`: declared in torana.yaml or the environment, and read-only here.
             * @enum {string}
             */
            managed_by: "configuration" | "store";
            /** @description Where it is declared: `torana.yaml:88`, or `environment`. null: in the store. */
            managed_at: string | null;
            /** @description null: all. */
            models: string[] | null;
            /** @description null: everything. */
            scopes: ("embeddings" | "images" | "edits")[] | null;
            max_calls_at_once: number | null;
            /** @description null: everywhere. */
            addresses: string[] | null;
            limits: components["schemas"]["Limits"];
            budget: components["schemas"]["Budget"] | null;
            expires_at: string | null;
            revoked_at: string | null;
            /** @description It was revoked because a stranger may have its secret. */
            leaked: boolean;
            first_used_at: string | null;
            /** @description Accurate to a minute. */
            last_used_at: string | null;
            created_at: string | null;
            /** @description Newest first. */
            secrets: components["schemas"]["KeySecret"][];
            /** @description What is worth a look. */
            notes: ("idle" | "no_expiry" | "no_limit" | "ends_soon" | "rotating" | "old_pepper")[];
            /** @description Shown only this once. Absent if you supplied it yourself. */
            secret?: string;
        };
        LedgerRow: {
            attempt: number;
            /** Format: uuid */
            call_id: string;
            /** @enum {string} */
            kind: "intent" | "post" | "unknown" | "void" | "adjust";
            deployment: string;
            /** @enum {string} */
            usage: "upstream" | "estimated" | "unknown";
            tokens: number | null;
            images: number;
            amount_usd: string | null;
            /**
             * @description `upstream`: the amount is what the upstream says that it charges.
             * @enum {string}
             */
            cost_by: "price" | "upstream";
            /** @description What the upstream counted, where fewer tokens are charged. null: nothing was cut. */
            told_tokens: number | null;
            /** @description What the upstream says that it charges, where less is charged. null: nothing was cut. */
            told_usd: string | null;
            /** Format: date-time */
            at: string;
        };
        LedgerStatus: {
            /** @description Hours before it are sealed. null: none is. */
            sealed_through: string | null;
            /** @description The step that has made no progress for two hours or longer. null: none. */
            sealing_stalled: {
                /**
                 * @description An hour is compared with its sums, then sealed.
                 * @enum {string}
                 */
                step: "compare" | "seal";
                /** Format: date-time */
                since: string;
                /** @description Nodes of an earlier version: no hour is sealed until they are stopped or ended. */
                earlier_nodes: number;
            } | null;
            /** @enum {string} */
            export: "on" | "off";
            /** @description Complete days before it are files. null: none is. */
            exported_through: string | null;
            exported_days: number;
            exported_entries: number;
            exported_bytes: number;
            /** @description Complete days without files. */
            waiting_days: number;
            /** @description More days wait for the export than it usually leaves. */
            export_late: boolean;
            /** @description Days that PostgreSQL keeps. null: all. */
            keep_days: number | null;
            /** @description Entries of days before it are in files only. null: PostgreSQL has all. */
            kept_from: string | null;
            /** @description What keeps days from being exported or dropped. */
            problem: {
                says: string;
                /** Format: date-time */
                at: string;
            } | null;
        };
        Limits: {
            requests_per_minute?: number;
            tokens_per_minute?: number;
            images_per_minute?: number;
        };
        LimitsChangeInput: {
            /** @description Units a minute. null: no such limit. */
            requests_per_minute?: number | null;
            /** @description Units a minute. null: no such limit. */
            tokens_per_minute?: number | null;
            /** @description Units a minute. null: no such limit. */
            images_per_minute?: number | null;
        };
        MadeAlertChannel: {
            /**
             * @description `configuration`: declared in torana.yaml. Only what the store manages can be changed here.
             * @enum {string}
             */
            managed_by: "configuration" | "store" | "built-in";
            /** @description `torana.yaml:88`. null: it has no line in the file. */
            managed_at: string | null;
            id: string;
            name: string;
            /** @enum {string} */
            kind: "slack" | "teams" | "pagerduty" | "email" | "webhook";
            /** @description What people recognise it by, such as `hooks.slack.com/…/x9Qd`. */
            masked: string;
            /** @description Whether quiet hours of rules hold its notices. */
            quiet_hours: boolean;
            /** @description The last try, or test. null: there was none. */
            last: components["schemas"]["AlertDelivery"] | null;
            failing_since: string | null;
            /** @description Notices that are due and have not arrived. */
            queued: number;
            /** @description The next try of a failing channel. */
            next_at: string | null;
            /** @description The number of the next try. */
            attempt: number;
            /** @description The signing secret of a new webhook, if none was given. It is shown this once. */
            secret: string | null;
        };
        Member: {
            /** Format: uuid */
            id: string;
            name: string;
            email: string;
            /** @enum {string} */
            role: "developer" | "operator" | "admin";
            /** @description Of a developer: the projects that it sees. null: all. */
            projects: string[] | null;
            /**
             * @description Who decides the role: admins, or the rules of the sign-on.
             * @enum {string}
             */
            source: "local" | "oidc";
            last_seen_at: string | null;
            /** Format: date-time */
            created_at: string;
            disabled_at: string | null;
        };
        /**
         * @example {
         *       "role": "operator"
         *     }
         */
        MemberChangeInput: {
            name?: string;
            /** @enum {string} */
            role?: "developer" | "operator" | "admin";
            /** @description Of a developer: the projects that it sees. null: all. */
            projects?: string[] | null;
            /** @description A disabled member has no sessions, and can not sign in. */
            disabled?: boolean;
        };
        MemberList: {
            data: components["schemas"]["Member"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        Minute: {
            /** Format: date-time */
            at: string;
            answered: number;
            refused: number;
            limited: number;
            failed: number;
            unknown: number;
            p50_ms: number | null;
            p95_ms: number | null;
            p99_ms: number | null;
            /** @description Torana’s own part. */
            own_p95_ms: number | null;
            /** @description Of models with a cache. */
            inputs: number;
            hits: number;
            /** @description US dollars, with nine decimals. */
            spent_usd: string;
        };
        ModelDetail: {
            /**
             * @description `configuration`: declared in torana.yaml. Only what the store manages can be changed here.
             * @enum {string}
             */
            managed_by: "configuration" | "store" | "built-in";
            /** @description `torana.yaml:88`. null: it has no line in the file. */
            managed_at: string | null;
            id: string;
            /** @enum {string} */
            kind: "embedding" | "image";
            aliases: string[];
            owned_by: string;
            /** @description The space of its full width. null: an image model, or not known yet. */
            space: string | null;
            retired: {
                on: string;
                successor: string | null;
                /** @description The keys that still ask for it, with their requests of seven days. */
                asked_by: {
                    key: string;
                    requests_7d: number;
                }[];
            } | null;
            /** @description When the last of its deployments ends. null: one of them has no end. */
            ends: {
                /** @description `2026-12-01`: it ends as this day begins, in UTC. */
                on: string;
                /** @description 0 or less: the day has come. */
                days_left: number;
                /** @description As its provider names it. It may not be served here. */
                successor: string | null;
            } | null;
            embedding: {
                width: number;
                narrower: ("any" | "none") | number[];
                max_input_tokens: number | null;
                /** @description Of one call to an upstream. Larger requests are split. */
                max_inputs: number;
                /** @description What one of its deployments takes besides texts. null: texts alone. */
                contents: {
                    inputs: ("text" | "image" | "audio" | "video" | "file")[];
                    /** @description Whether it makes one vector of several parts. */
                    fuses: boolean;
                    formats: string[];
                    /** @description Of one input. */
                    max_parts: number;
                    /** @description Of one call. null: no limit is known. */
                    max_images: number | null;
                    max_part_bytes: number | null;
                    max_pixels: number | null;
                    max_seconds: number | null;
                    max_pages: number | null;
                } | null;
            } | null;
            image: {
                sizes: {
                    /** @enum {string} */
                    kind: "list" | "free" | "any";
                    values: string[];
                    /** @description What it makes when the request names no size. */
                    default: string;
                    multiple_of: number | null;
                    min_pixels: number | null;
                    max_pixels: number;
                    max_edge: number | null;
                    max_ratio: number | null;
                };
                max_given: number;
                /** @description Of one input image or mask. */
                max_given_bytes: number;
                max_per_call: number;
                previews: number;
                qualities: string[];
                formats: string[];
            } | null;
            /** @description What at least one deployment does, or Torana for it. What is absent is refused. */
            can: {
                [key: string]: "native" | "emulated";
            };
            deployments: components["schemas"]["DeploymentBrief"][];
            /** @description Of the first deployment that has one. */
            price: components["schemas"]["PriceText"][];
            /** @description The day on which the oldest fact of the catalogue about it was read. null: there is none. */
            as_of: string | null;
            /** @description That was more than 120 days ago. */
            is_old: boolean;
            last_hour: {
                requests: number;
                failed: number;
                p95_ms: number | null;
            };
            last_day: {
                requests: number;
            };
            /** @description The worst of each six hours of seven days: `g`ood, `w`arned, `b`ad, `q`uarantined, `.` nothing. */
            cells: string;
            options: {
                /** @enum {string} */
                group: "answers" | "takes" | "money";
                option: string;
                by_deployment: {
                    [key: string]: {
                        /** @enum {string} */
                        how: "native" | "emulated" | "refused" | "value";
                        /** @description What Torana does instead, or the figure. */
                        value: string;
                    };
                };
            }[];
            /** @description The price of each deployment. */
            prices: {
                [key: string]: components["schemas"]["PriceText"][];
            };
            /** @description In the order in which they are asked. */
            tiers: {
                deployment: string;
                weight: number;
                /** @description Its part of the calls of 24 hours. */
                share: number;
                /** @description Accurate to an hour. */
                last_used_at: string | null;
                /** @description As configured, for all nodes together. */
                limits: {
                    requests_per_minute?: number;
                    tokens_per_minute?: number;
                    images_per_minute?: number;
                    concurrency?: number;
                };
            }[][];
            cache: {
                ttl_seconds: number;
                /** @description Of the newest inputs of 24 hours. */
                hits_share: number;
                /** @description What its hits of 24 hours would have cost. */
                saved_usd: string;
            } | null;
            micro_batch: {
                max_wait_ms: number;
                max_items: number;
                average_items: number | null;
            } | null;
            guarded: boolean;
            /** @description Deployments whose provider announced a day. */
            ends_by_deployment: {
                [key: string]: {
                    /** @description `2026-12-01`: it ends as this day begins, in UTC. */
                    on: string;
                    /** @description 0 or less: the day has come. */
                    days_left: number;
                    /** @description As its provider names it. It may not be served here. */
                    successor: string | null;
                    /** @description Where the day was read: an address, a line of torana.yaml, or the list of an upstream. */
                    source: string | null;
                    /** @description The day on which it was read there. */
                    as_of: string | null;
                    note: string | null;
                };
            };
            /** @description Who used it within 30 days. null: no deployment of it ends within 90 days, or nothing is kept. */
            used_by: {
                /** @description The busiest first, at most 20. */
                keys: {
                    key: string;
                    requests_30d: number;
                }[];
                /** @description Of all keys that used it. */
                count: number;
                /** @description Of all these keys. */
                requests_30d: number;
            } | null;
        };
        ModelRow: {
            /**
             * @description `configuration`: declared in torana.yaml. Only what the store manages can be changed here.
             * @enum {string}
             */
            managed_by: "configuration" | "store" | "built-in";
            /** @description `torana.yaml:88`. null: it has no line in the file. */
            managed_at: string | null;
            id: string;
            /** @enum {string} */
            kind: "embedding" | "image";
            aliases: string[];
            owned_by: string;
            /** @description The space of its full width. null: an image model, or not known yet. */
            space: string | null;
            retired: {
                on: string;
                successor: string | null;
                /** @description The keys that still ask for it, with their requests of seven days. */
                asked_by: {
                    key: string;
                    requests_7d: number;
                }[];
            } | null;
            /** @description When the last of its deployments ends. null: one of them has no end. */
            ends: {
                /** @description `2026-12-01`: it ends as this day begins, in UTC. */
                on: string;
                /** @description 0 or less: the day has come. */
                days_left: number;
                /** @description As its provider names it. It may not be served here. */
                successor: string | null;
            } | null;
            embedding: {
                width: number;
                narrower: ("any" | "none") | number[];
                max_input_tokens: number | null;
                /** @description Of one call to an upstream. Larger requests are split. */
                max_inputs: number;
                /** @description What one of its deployments takes besides texts. null: texts alone. */
                contents: {
                    inputs: ("text" | "image" | "audio" | "video" | "file")[];
                    /** @description Whether it makes one vector of several parts. */
                    fuses: boolean;
                    formats: string[];
                    /** @description Of one input. */
                    max_parts: number;
                    /** @description Of one call. null: no limit is known. */
                    max_images: number | null;
                    max_part_bytes: number | null;
                    max_pixels: number | null;
                    max_seconds: number | null;
                    max_pages: number | null;
                } | null;
            } | null;
            image: {
                sizes: {
                    /** @enum {string} */
                    kind: "list" | "free" | "any";
                    values: string[];
                    /** @description What it makes when the request names no size. */
                    default: string;
                    multiple_of: number | null;
                    min_pixels: number | null;
                    max_pixels: number;
                    max_edge: number | null;
                    max_ratio: number | null;
                };
                max_given: number;
                /** @description Of one input image or mask. */
                max_given_bytes: number;
                max_per_call: number;
                previews: number;
                qualities: string[];
                formats: string[];
            } | null;
            /** @description What at least one deployment does, or Torana for it. What is absent is refused. */
            can: {
                [key: string]: "native" | "emulated";
            };
            deployments: components["schemas"]["DeploymentBrief"][];
            /** @description Of the first deployment that has one. */
            price: components["schemas"]["PriceText"][];
            /** @description The day on which the oldest fact of the catalogue about it was read. null: there is none. */
            as_of: string | null;
            /** @description That was more than 120 days ago. */
            is_old: boolean;
            last_hour: {
                requests: number;
                failed: number;
                p95_ms: number | null;
            };
            last_day: {
                requests: number;
            };
            /** @description The worst of each six hours of seven days: `g`ood, `w`arned, `b`ad, `q`uarantined, `.` nothing. */
            cells: string;
        };
        ModelRowList: {
            data: components["schemas"]["ModelRow"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        MoneyLine: {
            attempt: number | null;
            call_id: string | null;
            deployment: string;
            /** @enum {string} */
            kind: "intent" | "post" | "unknown" | "void" | "adjust";
            /** @enum {string} */
            of: "tokens" | "text_input" | "cached_text_input" | "image_input" | "cached_image_input" | "text_output" | "image_output" | "svg_input" | "svg_output" | "images" | "given_images" | "megapixels" | "given_megapixels" | "audio_input" | "video_input" | "file_input" | "characters" | "audio_seconds" | "video_seconds" | "pages" | "hits";
            count: number;
            price_usd: string | null;
            per: 1 | 1000000;
            amount_usd: string | null;
            /** @enum {string} */
            counted_by: "upstream" | "torana";
            /** Format: date-time */
            at: string;
        };
        MutedAlerts: {
            muted_until: string | null;
        };
        /**
         * @example {
         *       "kind": "slack",
         *       "name": "torana-ops",
         *       "url": "https://hooks.slack.com/services/T0/B0/x9Qd"
         *     }
         */
        NewAlertChannelInput: {
            /** @constant */
            kind: "slack";
            /** Format: uri */
            url: string;
            /** @description Whether the address may be private, and plain http. Only an admin may allow it. */
            private?: boolean;
            name: string;
            /** @description Whether quiet hours of rules hold its notices. Default: `false` for PagerDuty, else `true`. */
            quiet_hours?: boolean;
        } | {
            /** @constant */
            kind: "teams";
            /** Format: uri */
            url: string;
            /** @description Whether the address may be private, and plain http. Only an admin may allow it. */
            private?: boolean;
            name: string;
            /** @description Whether quiet hours of rules hold its notices. Default: `false` for PagerDuty, else `true`. */
            quiet_hours?: boolean;
        } | {
            /** @constant */
            kind: "webhook";
            /** Format: uri */
            url: string;
            /** @description Whether the address may be private, and plain http. Only an admin may allow it. */
            private?: boolean;
            /** @description Signs the events. Default: a new one, which the answer shows once. */
            secret?: string;
            name: string;
            /** @description Whether quiet hours of rules hold its notices. Default: `false` for PagerDuty, else `true`. */
            quiet_hours?: boolean;
        } | {
            /** @constant */
            kind: "pagerduty";
            routing_key: string;
            /**
             * Format: uri
             * @description Default: https://events.pagerduty.com/v2/enqueue
             */
            url?: string;
            /** @description Whether the address may be private, and plain http. Only an admin may allow it. */
            private?: boolean;
            name: string;
            /** @description Whether quiet hours of rules hold its notices. Default: `false` for PagerDuty, else `true`. */
            quiet_hours?: boolean;
        } | {
            /** @constant */
            kind: "email";
            to: string[];
            name: string;
            /** @description Whether quiet hours of rules hold its notices. Default: `false` for PagerDuty, else `true`. */
            quiet_hours?: boolean;
        };
        /**
         * @example {
         *       "kind": "error_rate",
         *       "condition": {
         *         "percent": 5,
         *         "minutes": 5
         *       },
         *       "scope": {
         *         "project": "*"
         *       },
         *       "channels": []
         *     }
         */
        NewAlertRuleInput: {
            kind: components["schemas"]["AlertKindInput"];
            name?: string;
            on?: boolean;
            /** @description Fields that are left out keep theirs. */
            condition?: {
                [key: string]: number | number[];
            };
            scope?: components["schemas"]["AlertScopeInput"];
            channels?: string[];
            quiet?: components["schemas"]["QuietHoursInput"] | null;
        };
        /**
         * @example {
         *       "project": "search",
         *       "key": "search/indexer",
         *       "input_file_id": "file-0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f",
         *       "endpoint": "/v1/embeddings",
         *       "completion_window": "24h"
         *     }
         */
        NewBatchInput: {
            input_file_id: string;
            /** @enum {string} */
            endpoint: "/v1/embeddings" | "/v1/images/generations" | "/v1/images/edits";
            /** @description `24h`, or another number of hours up to `168h`. */
            completion_window: string;
            /** @description Notes of yours. Tags of the lines come in the header `x-torana-tags`. */
            metadata?: {
                [key: string]: string;
            } | null;
            output_expires_after?: {
                /** @constant */
                anchor: "created_at";
                seconds: number;
            } | null;
            /** @description The project that pays, and that has the file. */
            project: string;
            /**
             * @description The key of the project that it runs under, such as `search/indexer`. null: under your own name, as the playground.
             * @default null
             */
            key: string | null;
        };
        /**
         * @example {
         *       "secret": "sk-…"
         *     }
         */
        NewCredentialInput: {
            /** @description null: delete it. */
            secret: string | null;
        };
        NewInvitationInput: {
            /** Format: email */
            email: string;
            /** @enum {string} */
            role: "developer" | "operator" | "admin";
            /**
             * @description Of a developer: the projects that it sees. null: all.
             * @default null
             */
            projects: string[] | null;
        };
        /**
         * @example {
         *       "project": "search",
         *       "name": "website",
         *       "models": [
         *         "demo-embed"
         *       ],
         *       "budget": {
         *         "usd": 50,
         *         "per": "month",
         *         "hard": true
         *       }
         *     }
         */
        NewKeyInput: {
            project: string;
            name: string;
            /** @description An existing key to import. Absent: Torana creates one. */
            secret?: string;
            /** @description Fields that are left out stay as they are. */
            limits?: components["schemas"]["LimitsChangeInput"];
            /** @description null: no budget. */
            budget?: components["schemas"]["BudgetChangeInput"] | null;
            /** @description Ids or aliases. null: all. */
            models?: string[] | null;
            /** @description What the key may be used for. null: everything. */
            scopes?: ("embeddings" | "images" | "edits")[] | null;
            /** @description Concurrent requests, on all nodes together. null: no maximum. */
            max_calls_at_once?: number | null;
            /** @description Addresses and networks that the key may be used from. null: everywhere. */
            addresses?: string[] | null;
            /** @description The key is refused from this moment on; a day means its start in UTC. */
            expires_at?: string | null;
        };
        /**
         * @example {
         *       "upstream": "openai",
         *       "ids": [
         *         "text-embedding-3-small"
         *       ]
         *     }
         */
        NewModelsInput: {
            upstream: string;
            ids: string[];
            /** @description What those models are that Torana has no facts about. */
            own?: {
                [key: string]: {
                    /** @constant */
                    kind: "embedding";
                    width: number;
                } | {
                    /** @constant */
                    kind: "image";
                };
            };
            /** @description What the new deployments cost. The others have the price of the catalog, if it has one. */
            prices?: {
                [key: string]: string | {
                    [key: string]: unknown;
                };
            };
        };
        /**
         * @example {
         *       "name": "search",
         *       "limits": {
         *         "requests_per_minute": 600
         *       },
         *       "budget": {
         *         "usd": 200,
         *         "per": "month",
         *         "hard": true
         *       }
         *     }
         */
        NewProjectInput: {
            name: string;
            /** @description Fields that are left out stay as they are. */
            limits?: components["schemas"]["LimitsChangeInput"];
            /** @description null: no budget. */
            budget?: components["schemas"]["BudgetChangeInput"] | null;
        };
        /**
         * @example {
         *       "name": "terraform",
         *       "role": "operator",
         *       "expires_in_days": 90
         *     }
         */
        NewTokenInput: {
            name: string;
            /** @enum {string} */
            role: "developer" | "operator" | "admin";
            /**
             * @description Of a developer: the projects that it sees. null: all.
             * @default null
             */
            projects: string[] | null;
            /**
             * @description It may read, whatever its role.
             * @default false
             */
            read_only: boolean;
            expires_in_days: number;
        };
        /**
         * @example {
         *       "provider": "openai",
         *       "name": "openai",
         *       "secret": "sk-…"
         *     }
         */
        NewUpstreamInput: {
            /** @description A provider that Torana knows. Absent: an OpenAI-compatible server. */
            provider?: string;
            /** @description Default: the provider's published address. */
            base_url?: string;
            /** @description Azure. Default `v1`. */
            api_version?: string;
            /** @description Amazon Bedrock. */
            region?: string;
            /** @description Google Vertex AI. */
            project?: string;
            /** @description Google Vertex AI. */
            location?: string;
            /** @description Default: the provider, or the host, with a number where it is taken. */
            name?: string;
            /** @description Kept sealed, sent to the upstream alone, never shown again. */
            secret?: string;
        };
        Node: {
            id: string;
            host: string;
            version: string;
            /** @description What the node does: `all`, `gateway`, `control` or `worker`. */
            role: string;
            /**
             * @description `silent`: not seen for a minute, but not ended.
             * @enum {string}
             */
            state: "alive" | "silent" | "ended";
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            seen_at: string;
            ended_at: string | null;
            /** @description Part of the hard budgets that the node has leased. */
            leased_usd: string;
            /** @description What it reported in the last seconds. null: nothing. */
            now: {
                /** @description 0 to 1: the share of time in which its event loop was busy. */
                loop_busy: number;
                /** @description Usage records that wait on its disk for PostgreSQL. */
                spool_waiting: number;
                calls_under_way: number;
            } | null;
        };
        NodeList: {
            data: components["schemas"]["Node"][];
            /** @constant */
            has_more: false;
        };
        Overview: {
            /** Format: date-time */
            at: string;
            /** @description How many nodes reported in the last seconds. */
            nodes: {
                reporting: number;
                alive: number;
            };
            flows: components["schemas"]["Flow"][];
            /** @description Empty for those who may not see deployments. */
            deployments: components["schemas"]["DeploymentBrief"][];
            /** @description The worst first. */
            attention: components["schemas"]["Attention"][];
            series: {
                slot_seconds: number;
                data: components["schemas"]["Minute"][];
            };
            today: {
                /** @description US dollars, with nine decimals. */
                spent_usd: string;
                /** @description What all budgets of projects allow for a day. null: there is none. */
                pace_usd: string | null;
                /** @description At the pace of today. null: the day is too young. */
                forecast_usd: string | null;
                /** @description US dollars, with nine decimals. */
                saved_usd: string;
            };
        };
        /**
         * @example {
         *       "current": "a long passphrase",
         *       "password": "a longer passphrase"
         *     }
         */
        PasswordChangeInput: {
            current: string;
            password: string;
        };
        /**
         * @example {
         *       "project": "search",
         *       "model": "gpt-image-2",
         *       "prompt": "a night sky",
         *       "images": [
         *         {
         *           "image_url": "data:image/png;base64,…"
         *         }
         *       ]
         *     }
         */
        PlaygroundEditsInput: {
            /** @description Id or alias of an image model. */
            model: string;
            prompt: string;
            /** @description How many images. Torana makes several calls if one call makes fewer. */
            n?: number;
            /** @description `auto`, or pixels such as `1024x1024`. */
            size?: string;
            quality?: string;
            background?: string;
            moderation?: string;
            /** @description How much the model plans before it draws. */
            complexity?: string;
            /** @description Of a GIF. */
            frame_count?: number;
            /** @description `png`, `jpeg` or `webp`. */
            output_format?: string;
            /** @description For `jpeg` and `webp`. */
            output_compression?: number;
            /** @enum {string} */
            response_format?: "url" | "b64_json" | "base64";
            stream?: boolean;
            partial_images?: number;
            /** @description The application's own user. Torana counts usage by it, and passes it on if the upstream takes it. */
            user?: string;
            /** @description Up to eight tags, such as `{"team": "red"}`, for usage reports and the request log. Torana does not pass them on. In a form, use the header `x-torana-tags`. */
            metadata?: {
                [key: string]: string;
            };
            safety_identifier?: string;
            /**
             * @description `keep`: Torana refuses a conversion, which would drop the C2PA manifest of the image.
             * @enum {string}
             */
            provenance?: "keep";
            /** @description In a form: the input images as files, at most 16, under `image`, `image[]` or `image[0]`. */
            image?: string | string[];
            /** @description In JSON: the input images. */
            images?: {
                image_url: string;
            }[];
            /** @description Fully transparent where the first input image should change, and of the same size. */
            mask?: string | {
                image_url: string;
            };
            /** @description A drawing on top of the first input image. Not together with a mask. */
            markup?: string | {
                image_url: string;
            };
            input_fidelity?: string;
            /** @description The project that pays, and whose limits hold. It must be the first field of the body. */
            project: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "project": "search",
         *       "model": "demo-embed",
         *       "input": [
         *         "cat",
         *         "kitten",
         *         "car"
         *       ]
         *     }
         */
        PlaygroundEmbeddingsInput: {
            /** @description Id or alias of an embedding model. */
            model: string;
            /** @description A text, texts, one array of token ids, several, or contents: images, audio, video and PDF, for models that take them. The forms of Cohere, Voyage, Jina, Infinity and vLLM are read as contents too. */
            input: string | string[] | number[] | number[][] | (string | components["schemas"]["ContentInput"])[];
            /** @description Width of the vectors: native, or shortened by Torana on Matryoshka models; refused on other models. */
            dimensions?: number | null;
            /** @description Cohere's and Voyage's name for `dimensions`. */
            output_dimension?: number | null;
            /** @description Form of the vectors: numbers, or base64 of their little-endian bytes. Default float. OpenAI's SDKs decode base64 as float32, so they always get numbers for other types. */
            encoding_format?: ("float" | "base64") | null;
            /** @description Type of the vectors. Torana passes on what the upstream makes itself, and makes float16 (by rounding) and binary (by sign) from float32 itself. Default float. */
            output_dtype?: ("float" | "float16" | "int8" | "uint8" | "binary" | "ubinary") | null;
            /** @description Cohere's name for the same. Several types come from one call. */
            embedding_types?: ("float" | "float16" | "int8" | "uint8" | "binary" | "ubinary")[] | null;
            /** @description Jina's name for the same. */
            embedding_type?: ("float" | "float16" | "int8" | "uint8" | "binary" | "ubinary") | null;
            /** @description What the text is for, on models that treat queries and documents differently. An addition of Torana. */
            input_type?: ("query" | "document" | "classification" | "clustering" | "similarity") | null;
            /** @description The application's own user. Torana counts usage by it, and passes it on if the upstream takes it. */
            user?: string | null;
            /** @description Up to eight tags, such as `{"team": "red"}`, for usage reports and the request log. Torana does not pass them on. The header `x-torana-tags` does the same. */
            metadata?: {
                [key: string]: string;
            } | null;
            /** @description The project that pays, and whose limits hold. It must be the first field of the body. */
            project: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "project": "search",
         *       "model": "demo-image",
         *       "prompt": "a lighthouse in the fog"
         *     }
         */
        PlaygroundImagesInput: {
            /** @description Id or alias of an image model. */
            model: string;
            prompt: string;
            /** @description How many images. Torana makes several calls if one call makes fewer. */
            n?: number;
            /** @description `auto`, or pixels such as `1024x1024`. */
            size?: string;
            quality?: string;
            background?: string;
            moderation?: string;
            /** @description How much the model plans before it draws. */
            complexity?: string;
            /** @description Of a GIF. */
            frame_count?: number;
            /** @description `png`, `jpeg` or `webp`. */
            output_format?: string;
            /** @description For `jpeg` and `webp`. */
            output_compression?: number;
            /** @enum {string} */
            response_format?: "url" | "b64_json" | "base64";
            stream?: boolean;
            partial_images?: number;
            /** @description The application's own user. Torana counts usage by it, and passes it on if the upstream takes it. */
            user?: string;
            /** @description Up to eight tags, such as `{"team": "red"}`, for usage reports and the request log. Torana does not pass them on. In a form, use the header `x-torana-tags`. */
            metadata?: {
                [key: string]: string;
            };
            safety_identifier?: string;
            /**
             * @description `keep`: Torana refuses a conversion, which would drop the C2PA manifest of the image.
             * @enum {string}
             */
            provenance?: "keep";
            /** @description The project that pays, and whose limits hold. It must be the first field of the body. */
            project: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "project": "search"
         *     }
         */
        PlaygroundUploadCancelInput: {
            /** @description The project that pays, and whose limits hold. It must be the first field of the body. */
            project: string;
        };
        /**
         * @example {
         *       "project": "search",
         *       "part_ids": [
         *         "part-1",
         *         "part-2"
         *       ]
         *     }
         */
        PlaygroundUploadCompletionInput: {
            part_ids: string[];
            md5?: string;
            /** @description The project that pays, and whose limits hold. It must be the first field of the body. */
            project: string;
        };
        /**
         * @example {
         *       "project": "search",
         *       "filename": "requests.jsonl",
         *       "purpose": "batch",
         *       "bytes": 104857600,
         *       "mime_type": "application/jsonl"
         *     }
         */
        PlaygroundUploadInput: {
            filename: string;
            /** @constant */
            purpose: "batch";
            /** @description Of all parts together, at most 8 GB. */
            bytes: number;
            mime_type: string;
            expires_after?: {
                /** @constant */
                anchor: "created_at";
                seconds: number;
            };
            /** @description The project that pays, and whose limits hold. It must be the first field of the body. */
            project: string;
        };
        /**
         * @example {
         *       "project": "search",
         *       "data": "@part-1"
         *     }
         */
        PlaygroundUploadPartInput: {
            /** @description The bytes, as a file of the form. */
            data: string;
            /** @description The project that pays, and whose limits hold. It must be the first field of the body. */
            project: string;
        };
        PreviewLine: {
            /** @enum {string} */
            op: " " | "+" | "-";
            /** @description In the text after the changes; of a removed line, in the text before. */
            number: number;
            text: string;
            /** @description Its place in torana.yaml. null: it comes from the console. */
            source: components["schemas"]["Source"] | null;
        };
        Price: {
            deployment: string;
            model: string;
            /** @enum {string} */
            kind: "embedding" | "image";
            /** @description As `price` in torana.yaml: `free`, `unpriced`, or fields such as `usdPerMillionTokens`. */
            price: string | {
                [key: string]: unknown;
            };
            text: components["schemas"]["PriceText"][];
            /**
             * @description `configuration`: torana.yaml decides, and the price is changed there.
             * @enum {string}
             */
            from: "configuration" | "store" | "catalog" | "none";
            /** @description Such as `torana.yaml:88`. */
            managed_at: string | null;
            /** @description The day of a price of the catalog, or on which it was set. */
            as_of: string | null;
            /** @description A price of the catalogue that was read more than 120 days ago. */
            is_old: boolean;
            /** @description Where a price of the catalog was read. */
            source: string | null;
            /** @description Who set it here. */
            set_by: string | null;
            /** @description Calls of the last 30 days that no sum of dollars holds. */
            unpriced_requests_30d: number;
        };
        PriceChange: {
            /** Format: date-time */
            at: string;
            deployment: string;
            before: components["schemas"]["PriceText"][];
            after: components["schemas"]["PriceText"][];
            /** @description A person, a line of torana.yaml, or `catalog`. */
            by: string;
        };
        PriceChangeList: {
            data: components["schemas"]["PriceChange"][];
            has_more: boolean;
            next: null;
        };
        PriceList: {
            data: components["schemas"]["Price"][];
            /** @constant */
            has_more: false;
            next: null;
        };
        PriceText: {
            /** @description US dollars, or a range such as `0.03–0.075`. Empty: the figure is unknown. */
            amount: string;
            /** @enum {string} */
            unit: "million tokens" | "million input tokens" | "million output tokens" | "image" | "megapixel" | "free" | "unpriced";
            /** @description What else is charged. */
            note: string | null;
        };
        Project: {
            name: string;
            /**
             * @description `configuration`: declared in torana.yaml or the environment, and read-only here.
             * @enum {string}
             */
            managed_by: "configuration" | "store";
            /** @description Where it is declared: `torana.yaml:88`, or `environment`. null: in the store. */
            managed_at: string | null;
            limits: components["schemas"]["Limits"];
            budget: components["schemas"]["Budget"] | null;
            /** @description Of the budget, in the window that runs. null: it has no budget. */
            spent: {
                /** @description US dollars, with nine decimals. */
                usd: string;
                /** Format: date-time */
                window_start: string;
            } | null;
            /** @description How many keys of it work. */
            keys: number;
            /** @description How many people see it. */
            members: number;
            /** @description Those of torana.yaml. */
            webhooks: components["schemas"]["ProjectWebhook"][];
            created_at: string | null;
        };
        /**
         * @example {
         *       "budget": {
         *         "usd": 250,
         *         "per": "month",
         *         "hard": true
         *       }
         *     }
         */
        ProjectChangeInput: {
            /** @description Fields that are left out stay as they are. */
            limits?: components["schemas"]["LimitsChangeInput"];
            /** @description null: no budget. */
            budget?: components["schemas"]["BudgetChangeInput"] | null;
        };
        ProjectList: {
            data: components["schemas"]["Project"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
        };
        ProjectWebhook: {
            /** @description Without its path, which is a secret at many receivers. */
            url: string;
            /** @description null: all. */
            events: string[] | null;
            /** @description The newest delivery. */
            last: {
                /** Format: date-time */
                at: string;
                /** @enum {string} */
                outcome: "sent" | "given-up" | "waiting";
            } | null;
        };
        Provider: {
            /** @description What `provider` is in torana.yaml. */
            id: string;
            name: string;
            dialect: string;
            /** @description Its published address. null: give one, or its package knows it. */
            base_url: string | null;
            embedding_models: number;
            image_models: number;
        };
        ProviderList: {
            data: components["schemas"]["Provider"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
        };
        QuietHours: {
            /** @description 1 is Monday, 7 is Sunday. */
            days: number[];
            from: string;
            /** @description Of the next day if it is before `from`. `24:00`: the end of the day. */
            to: string;
            /** @description A time zone such as `Europe/Berlin`. */
            zone: string;
        };
        QuietHoursInput: {
            /** @description 1 is Monday, 7 is Sunday. */
            days: number[];
            from: string;
            /** @description Of the next day if it is before `from`. `24:00`: the end of the day. */
            to: string;
            /** @description A time zone such as `Europe/Berlin`. */
            zone: string;
        };
        RefusedRecord: {
            request_id: string;
            attempt: number;
            /** @description `post`: the call was paid. `unknown`: it may have been paid. `void`: it was not. */
            kind: string;
            project: string;
            key_id: string;
            /** @description The node that made the call. */
            node: string;
            /** @description Counts as spent until the record is written. null: the model has no price. */
            usd: string | null;
            /** @description What PostgreSQL said at the last try. */
            reason: string;
            /** Format: date-time */
            requested_at: string;
            /** Format: date-time */
            refused_at: string;
            /** Format: date-time */
            tried_at: string;
        };
        RefusedRecordList: {
            data: components["schemas"]["RefusedRecord"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
            summary: {
                records: number;
                /** @description What they count as spent. */
                usd: string;
            };
        };
        ReportedBatch: {
            id: string;
            /** @enum {string} */
            state: "in_progress" | "cancelling" | "completed" | "failed" | "expired" | "cancelled";
            project: string;
            key: string;
            endpoint: string;
            /** @description null: its lines name none, or several. */
            model: string | null;
            lines: {
                total: number;
                completed: number;
                failed: number;
            };
            tokens: number;
            /** @description What it has cost so far, by the ledger. */
            cost_usd: string;
            /** @description Of the cost: calls whose outcome is unknown, with what was reserved for them. */
            unknown_cost_usd: string;
            /** @description The vector space of its results; null: there are none yet, their models or widths differ, or a line has a field that may change vectors in a way that Torana does not know. */
            space: string | null;
            /** @description Lines whose vectors had left the space of their model. They are made again, unless the batch was cancelled. */
            dropped_lines: number;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Lines that have not run by then are not run any more.
             */
            expires_at: string;
            cancelling_at: string | null;
            ended_at: string | null;
            /** @description When its results expire. null: it has not ended. */
            results_until: string | null;
            /** @description Why nothing of it begins at present. */
            pause: components["schemas"]["BatchPause"] | null;
            /** @description A person let it go on without its key: it runs under the terms of its project. */
            continued: boolean;
            /** @description The code of a fault, where Torana cancelled it: `key_revoked` after a leak, `project_deleted`. */
            cancelled_because: string | null;
            input_file: string;
            output: {
                id: string;
                /** @description So far; 0: there is none yet. */
                bytes: number;
            };
            errors: {
                id: string;
                /** @description So far; 0: there is none yet. */
                bytes: number;
            };
        };
        ReportedBatchDetail: {
            id: string;
            /** @enum {string} */
            state: "in_progress" | "cancelling" | "completed" | "failed" | "expired" | "cancelled";
            project: string;
            key: string;
            endpoint: string;
            /** @description null: its lines name none, or several. */
            model: string | null;
            lines: {
                total: number;
                completed: number;
                failed: number;
            };
            tokens: number;
            /** @description What it has cost so far, by the ledger. */
            cost_usd: string;
            /** @description Of the cost: calls whose outcome is unknown, with what was reserved for them. */
            unknown_cost_usd: string;
            /** @description The vector space of its results; null: there are none yet, their models or widths differ, or a line has a field that may change vectors in a way that Torana does not know. */
            space: string | null;
            /** @description Lines whose vectors had left the space of their model. They are made again, unless the batch was cancelled. */
            dropped_lines: number;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Lines that have not run by then are not run any more.
             */
            expires_at: string;
            cancelling_at: string | null;
            ended_at: string | null;
            /** @description When its results expire. null: it has not ended. */
            results_until: string | null;
            /** @description Why nothing of it begins at present. */
            pause: components["schemas"]["BatchPause"] | null;
            /** @description A person let it go on without its key: it runs under the terms of its project. */
            continued: boolean;
            /** @description The code of a fault, where Torana cancelled it: `key_revoked` after a leak, `project_deleted`. */
            cancelled_because: string | null;
            input_file: string;
            output: {
                id: string;
                /** @description So far; 0: there is none yet. */
                bytes: number;
            };
            errors: {
                id: string;
                /** @description So far; 0: there is none yet. */
                bytes: number;
            };
            metadata: {
                [key: string]: string;
            };
            /** @description Why its file could not be run. */
            file_errors: {
                code: string;
                message: string;
                param: string | null;
                line: number | null;
            }[];
            /** @description Lines that failed, by code; the most first. */
            faults: {
                code: string;
                lines: number;
            }[];
            /** @description Over the last five minutes; null: it has ended. */
            lines_per_second: number | null;
            /** @description Lines that were done in each slot, from `created_at` on. */
            series: {
                slot_ms: number;
                lines: number[];
            };
        };
        ReportedBatchList: {
            data: components["schemas"]["ReportedBatch"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        ReportedImageJob: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            status: "queued" | "running" | "succeeded" | "failed" | "unknown";
            /** @enum {string} */
            kind: "generation" | "edit";
            project: string;
            key: string;
            model: string;
            /** Format: date-time */
            created_at: string;
            ended_at: string | null;
            /** @description Its images are kept until then. */
            expires_at: string | null;
            duration_ms: number | null;
            cost_usd: string | null;
            /** @description Its day of the ledger was dropped from the database, so `cost_usd` is null. `GET /requests/{id}` reads its cost from the files. */
            cost_in_files: boolean;
            fault: string | null;
            pictures: {
                asset: string;
                width: number;
                height: number;
                format: string;
                bytes: number;
            }[];
            steps: {
                /** @enum {string} */
                name: "written" | "reserved" | "sent" | "delivered" | "kept" | "posted" | "ended" | "answered";
                /** Format: date-time */
                at: string;
            }[];
            holders: {
                node: string;
                /** Format: date-time */
                from: string;
            }[];
        };
        ReportedImageJobList: {
            data: components["schemas"]["ReportedImageJob"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        RequestDetail: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            at: string;
            /** @enum {string} */
            kind: "embedding" | "generation" | "edit";
            /** @enum {string} */
            source: "callers" | "batches";
            status: number;
            fault: string | null;
            /** @enum {string} */
            outcome: "answered" | "refused" | "limited" | "failed" | "unknown";
            project: string | null;
            key: string | null;
            model: string | null;
            deployments: string[];
            calls: number;
            inputs: number | null;
            hits: number | null;
            tokens: number | null;
            images: number | null;
            /** @description null: nothing was charged, or the model has no price; `unpriced` says which. */
            cost_usd: string | null;
            unpriced: boolean;
            usage: ("upstream" | "estimated" | "unknown") | null;
            duration_ms: number;
            /** @description Of it: Torana's own work. */
            own_ms: number;
            /** @description Of it: waiting for a turn. */
            waited_ms: number;
            node: string;
            /** @description The first image. */
            asset: string | null;
            /** @description As the caller sent it. */
            user: string | null;
            tags: {
                [key: string]: string;
            };
            /** @constant */
            log: "kept";
            route: string;
            /** @description The error text that the caller got. `[…]` stands for what may quote the caller or an upstream. null: the version before did not keep it. */
            fault_text: string | null;
            /** @description What made it fail, such as `connect ECONNREFUSED 10.0.0.7:8080`. null: nothing beyond the text. */
            fault_cause: string | null;
            /** @description Who was at fault. `torana` includes its stores and its configuration. null: it did not fail. */
            fault_party: ("caller" | "torana" | "upstream") | null;
            /** @description Deployments that a failed request did not try, in the order of the configuration. */
            skips: components["schemas"]["SkippedDeployment"][];
            asked_model: string | null;
            client_request_id: string | null;
            client_address: string | null;
            space: string | null;
            emulated: string[];
            dropped: string[];
            bytes_in: number;
            bytes_out: number;
            steps: components["schemas"]["RequestStep"][];
            attempts: components["schemas"]["Attempt"][];
            money: {
                reserved_usd: string | null;
                reserved_from: string[];
                lines: components["schemas"]["MoneyLine"][];
                /** @description US dollars, with nine decimals. */
                posted_usd: string;
                /** @description US dollars, with nine decimals. */
                returned_usd: string;
                /** @description US dollars, with nine decimals. */
                saved_usd: string;
            };
            ledger: components["schemas"]["LedgerRow"][];
            wire: {
                in: {
                    [key: string]: unknown;
                };
                out: {
                    [key: string]: unknown;
                };
                differences: components["schemas"]["Difference"][];
            };
            job: components["schemas"]["ReportedImageJob"] | null;
        };
        RequestList: {
            data: components["schemas"]["RequestRow"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        RequestRow: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            at: string;
            /** @enum {string} */
            kind: "embedding" | "generation" | "edit";
            /** @enum {string} */
            source: "callers" | "batches";
            status: number;
            fault: string | null;
            /** @enum {string} */
            outcome: "answered" | "refused" | "limited" | "failed" | "unknown";
            project: string | null;
            key: string | null;
            model: string | null;
            deployments: string[];
            calls: number;
            inputs: number | null;
            hits: number | null;
            tokens: number | null;
            images: number | null;
            /** @description null: nothing was charged, or the model has no price; `unpriced` says which. */
            cost_usd: string | null;
            unpriced: boolean;
            usage: ("upstream" | "estimated" | "unknown") | null;
            duration_ms: number;
            /** @description Of it: Torana's own work. */
            own_ms: number;
            /** @description Of it: waiting for a turn. */
            waited_ms: number;
            node: string;
            /** @description The first image. */
            asset: string | null;
            /** @description As the caller sent it. */
            user: string | null;
            tags: {
                [key: string]: string;
            };
        };
        RequestStep: {
            /** @enum {string} */
            name: "authenticate" | "read" | "negotiate" | "admit" | "gather" | "shape" | "settle" | "answer";
            start_ms: number;
            duration_ms: number;
            note: {
                [key: string]: string | number;
            };
        };
        /**
         * @example {
         *       "action": "post",
         *       "cost_usd": "0.03",
         *       "note": "on the invoice of November"
         *     }
         */
        ResolutionInput: {
            /**
             * @description `post`: the call was paid. `void`: it was not.
             * @enum {string}
             */
            action: "post" | "void";
            /** @description What it cost. Default: the reserved amount. Only for `post`. */
            cost_usd?: number | string;
            /** @description Only for `post`. */
            tokens?: number;
            /** @description Why you think so. The audit log shows it. People must give one; programs may. */
            note?: string;
        };
        Resolved: {
            request_id: string;
            attempt: number;
            /** @enum {string} */
            action: "post" | "void";
        };
        RetriedRecords: {
            /** @description Records that are now in the ledger. */
            written: number;
            /** @description Records that PostgreSQL refused once more. */
            refused: number;
            /** @description Records that are still set aside: those refused, and those that had no turn. */
            left: number;
        };
        ReverseChanges: {
            changes: components["schemas"]["ConfigurationChange"][];
        };
        /**
         * @example {
         *       "overlap_seconds": 86400
         *     }
         */
        RotationInput: {
            /**
             * @description How long the previous secret stays valid.
             * @default 86400
             */
            overlap_seconds: number;
        };
        RoutedDeployment: {
            id: string;
            upstream: string;
            /** @description The upstream's name of the model. */
            upstream_model: string;
            /** @description Tier n of the console is priority n − 1. */
            priority: number;
            weight: number;
            limits: {
                concurrency: number | null;
                min_concurrency: number | null;
                learns_concurrency: boolean;
                requests_per_minute: number | null;
                tokens_per_minute: number | null;
                images_per_minute: number | null;
            };
            /** @description As `price` in torana.yaml. */
            price: string | {
                [key: string]: unknown;
            };
            price_text: components["schemas"]["PriceText"][];
            /** @enum {string} */
            price_from: "configuration" | "store" | "catalog" | "none";
            /** @description What it costs when its entry has no price: the price of the model, else that of the catalogue. */
            list_price: components["schemas"]["PriceText"][];
            /** @description Its place in `entry.deployments`. null: it is declared, and can not be changed here. */
            index: number | null;
            /** @description Of the last 15 minutes. */
            p95_ms: number | null;
            /** @description The worst of all nodes. */
            state: components["schemas"]["State"];
            /** @description Keys with a hard budget, of their own or of their project, that never use it. null: there are none. */
            skipped_for: {
                keys: number;
                /** @enum {string} */
                reason: "unpriced";
            } | null;
            /** @description 0 to 1: of the calls of the model. null: there were none. */
            share_24h: number | null;
            source: components["schemas"]["Source"];
        };
        Routing: {
            model: string;
            /** @enum {string} */
            kind: "embedding" | "image";
            space: string | null;
            /** @description Of the object in the store, for `base` of a change. null: there is none. */
            revision: string | null;
            source: components["schemas"]["Source"];
            /** @description The object in the store, as in torana.yaml. Of a declared model: the deployments that are added to it. */
            entry: {
                [key: string]: unknown;
            } | null;
            deployments: components["schemas"]["RoutedDeployment"][];
            aliases: string[];
            attempt_timeout_ms: number | null;
            default_attempt_timeout_ms: number;
            cache: {
                ttl_ms: number;
            } | null;
            micro_batch: {
                max_wait_ms: number;
                max_items: number;
                across_projects: boolean;
            } | null;
            /** @description null: an image model. */
            space_guard: boolean | null;
        };
        SavedConfigurationChange: {
            /** @description Also the revision of each object that it changed. */
            id: string;
            /** Format: date-time */
            at: string;
            by: string;
            summary: string;
            objects: components["schemas"]["ChangedObject"][];
        };
        Session: {
            /** @description null: a token, not a person. */
            member: {
                /** Format: uuid */
                id: string;
                name: string;
                email: string;
            } | null;
            /** @enum {string} */
            role: "developer" | "operator" | "admin";
            /** @description null: all. */
            projects: string[] | null;
            /** @description What the role may do. A token that may only read has the reading ones. */
            permissions: ("overview.read" | "alerts.read" | "requests.read" | "models.read" | "usage.read" | "budgets.read" | "projects.read" | "keys.read" | "keys.create" | "keys.write" | "playground.run" | "assets.read" | "batches.read" | "batches.create" | "batches.pause" | "batches.cancel" | "batches.continue" | "alerts.write" | "deployments.read" | "deployments.test" | "deployments.drain" | "spaces.read" | "spaces.probe" | "upstreams.read" | "prices.read" | "nodes.read" | "doctor.read" | "unknowns.read" | "unknowns.resolve" | "settings.read" | "audit.read" | "spaces.accept" | "configuration.export" | "upstreams.write" | "models.write" | "prices.write" | "keys.loosen" | "projects.write" | "projects.delete" | "nodes.end" | "usage.export" | "audit.export" | "backup.make" | "members.read" | "members.write" | "members.invite" | "sign_on.read" | "sign_on.write" | "tokens.read" | "tokens.write")[];
            /** @description Plain http over a network: others could read along. */
            insecure: boolean;
            /** @description When it ends if it is not used. null: a token of the node. */
            expires_at: string | null;
            install: {
                name: string | null;
                version: string;
                gateway_url: string;
                /** @description No key was made yet. */
                first_run: boolean;
                /** @description No upstream is connected. */
                only_demo: boolean;
                /** @description The name of the identity provider. null: passwords only. */
                sign_on: string | null;
                /** Format: date-time */
                now: string;
            };
        };
        Settings: {
            install: {
                name: string | null;
                public_url: string;
                console_url: string;
                /**
                 * @description Whether the token of the node opens the control port.
                 * @enum {string}
                 */
                admin_token: "on" | "off";
            };
            /** @description As `limits` of torana.yaml names them. */
            limits: {
                [key: string]: number;
            };
            retention: {
                what: string;
                /** @description null: forever. */
                days: number | null;
                /** @description As the database estimates it. */
                rows: number;
                bytes: number;
                /** @description When the oldest go. */
                next: string | null;
            }[];
            stores: {
                /** @enum {string} */
                name: "postgres" | "redis" | "cache" | "assets";
                /** @enum {string} */
                state: "there" | "away";
                /**
                 * Format: date-time
                 * @description When this node noticed.
                 */
                since: string;
                /** @description How long it took to answer just now. */
                ms: number | null;
            }[];
            /** @description What one member may do in the playground of one project. null: as much as the project. */
            playground: {
                requests_per_minute: number | null;
                usd_per_day: string | null;
            };
            config_file: string | null;
            /** @description The newest day of a price that Torana knows by itself. */
            catalog_date: string;
            about: {
                version: string;
                licence: string;
                node: string;
                dependencies: {
                    name: string;
                    version: string;
                }[];
            };
        };
        SignInInput: {
            /** Format: email */
            email: string;
            password: string;
        };
        SignInOptions: {
            /** @description The name of the identity provider. null: passwords only. */
            sign_on: string | null;
            /** @description No member exists: the link of the first start makes one. */
            first_run: boolean;
            /** @description The browser speaks https. */
            secure: boolean;
            /** @description Whether this browser may sign in at all: over plain http only this machine may. */
            allowed: boolean;
        };
        SignOn: {
            /** @description On the button of the sign-in page. null: the host of the issuer. */
            name: string | null;
            /** @description Empty: single sign-on is off. */
            issuer: string;
            client_id: string;
            /** @description The secret itself is never shown. */
            has_secret: boolean;
            /** @description What the identity provider must allow. */
            redirect_url: string;
            rules: components["schemas"]["SignOnRule"][];
        };
        /**
         * @example {
         *       "name": "Okta",
         *       "issuer": "https://acme.okta.com",
         *       "client_id": "0oa1b2c3",
         *       "client_secret": "a secret",
         *       "rules": [
         *         {
         *           "claim": "groups",
         *           "value": "search-team",
         *           "role": "developer",
         *           "projects": [
         *             "search"
         *           ]
         *         }
         *       ]
         *     }
         */
        SignOnChangeInput: {
            /** @default null */
            name: string | null;
            /** Format: uri */
            issuer: string;
            client_id: string;
            /** @description Left out: as before, unless the issuer is another one. */
            client_secret?: string;
            rules: components["schemas"]["SignOnRuleInput"][];
        };
        SignOnRule: {
            /** @description The name of a claim, or a path such as `realm_access.roles`. */
            claim: string;
            /** @description One value of the claim. `*`: any. */
            value: string;
            /** @enum {string} */
            role: "developer" | "operator" | "admin";
            /**
             * @description Of a developer: the projects that it sees. null: all.
             * @default null
             */
            projects: string[] | null;
        };
        SignOnRuleInput: {
            /** @description The name of a claim, or a path such as `realm_access.roles`. */
            claim: string;
            /** @description One value of the claim. `*`: any. */
            value: string;
            /** @enum {string} */
            role: "developer" | "operator" | "admin";
            /**
             * @description Of a developer: the projects that it sees. null: all.
             * @default null
             */
            projects: string[] | null;
        };
        SignOnTest: {
            /** @description Open it in a new window: it shows the claims. */
            url: string;
        };
        SkippedDeployment: {
            deployment: string;
            /** @enum {string} */
            reason: "unable" | "unpriced" | "quarantined" | "held-back" | "drained" | "ejected" | "limited" | "full" | "withdrawn" | "charged" | "time" | "retries";
            /** @description The reason in words, as in the error: it follows the name of the deployment. */
            text: string;
        };
        /** @description Where it is declared. Only what comes from the console can be changed here. */
        Source: {
            /** @constant */
            kind: "console";
        } | {
            /** @constant */
            kind: "file";
            file: string;
            line: number;
        } | {
            /** @constant */
            kind: "environment";
            variable: string;
        } | {
            /** @constant */
            kind: "built_in";
        };
        Space: {
            model: string;
            /** @description `<model or declared name>@<width>:<8 hex>`, as in the header `x-torana-space`. */
            space: string;
            /** @description The model's own space: the same, unless the model declares one with others. Requests that pin it are answered, too. */
            own_space: string;
            /** @description The other models that declare the same space. Theirs gets another name, too, once another space of this model is accepted. */
            shared_with: string[];
            /** @description Counts the spaces of this model that were accepted, from 1. */
            generation: number;
            width: number;
            /** @description false: `spaceGuard: false`. Torana does not probe the model. */
            guarded: boolean;
            /** @description The deployment whose vectors are the reference. null: no deployment has answered yet. */
            reference: {
                deployment: string;
                /** Format: date-time */
                accepted_at: string;
                /** @description Who accepted it, as in the audit. null: not accepted by a person; it is what the deployment answered first. */
                accepted_by: string | null;
            } | null;
            /** @description Keys whose requests named this space in `x-torana-space` within 24 hours, at any width, the busiest first. They get 412 once another space is accepted. null: `DATABASE_URL=memory:` keeps no requests. */
            pinned_by: components["schemas"]["SpacePin"][] | null;
            deployments: components["schemas"]["SpaceDeployment"][];
        };
        /**
         * @example {
         *       "deployment": "search-embed/a"
         *     }
         */
        SpaceAcceptanceInput: {
            deployment: string;
        };
        SpaceDeployment: {
            deployment: string;
            /**
             * @description `held-back`: not compared yet. A deployment that is held back or quarantined answers no requests. `unguarded`: the space guard is off.
             * @enum {string}
             */
            state: "trusted" | "warned" | "held-back" | "quarantined" | "unguarded";
            reason: string | null;
            last_good_at: string | null;
            /** @description The least cosine of the last probe that could be compared. null: none could. */
            last_cosine: {
                least: number;
                /** Format: date-time */
                at: string;
            } | null;
            last_probe: components["schemas"]["SpaceProbe"] | null;
        };
        SpaceList: {
            data: components["schemas"]["Space"][];
            /** @constant */
            has_more: false;
        };
        SpacePin: {
            key: string;
            requests_24h: number;
        };
        SpaceProbe: {
            /** Format: date-time */
            at: string;
            deployment: string;
            /** @description The space that the probe was compared with. */
            space: string;
            /**
             * @description `warned`: near the limit. `quarantined`: outside the space. `failed`: the probe got no answer, which changes nothing.
             * @enum {string}
             */
            verdict: "good" | "warned" | "quarantined" | "failed";
            /** @description The cosine of each of the eight probe texts with its reference, then of the three probe images if the deployment takes images. null: nothing could be compared, or one text alone. */
            cosines: number[] | null;
            /** @description The least of these cosines. Images have wider limits than texts. null: nothing could be compared. */
            least_cosine: number | null;
            /** @description The largest relative difference between the length of a vector and its reference. */
            norm_drift: number | null;
            reason: string | null;
        };
        SpaceProbeList: {
            data: components["schemas"]["SpaceProbe"][];
            /** @constant */
            has_more: false;
        };
        SpaceSeries: {
            data: components["schemas"]["SpaceProbe"][];
            /** @description There are older ones. */
            has_more: boolean;
        };
        SpaceSlot: {
            /**
             * Format: date-time
             * @description Where the slot begins.
             */
            at: string;
            deployment: string;
            space: string;
            looks: number;
            /** @description Looks that got no answer, which is no drift. */
            failed: number;
            /**
             * @description The worst of the slot.
             * @enum {string}
             */
            verdict: "good" | "warned" | "quarantined" | "failed";
            least_cosine: number | null;
            /** @description Texts and images have limits of their own. */
            least_text_cosine: number | null;
            /** @description null: the deployment takes no images. */
            least_image_cosine: number | null;
            norm_drift: number | null;
        };
        SpaceSlotList: {
            data: components["schemas"]["SpaceSlot"][];
            /** @description There are older ones. */
            has_more: boolean;
        };
        /** @enum {string} */
        State: "healthy" | "limited" | "ejected" | "probing" | "held-back" | "quarantined" | "drained";
        Sum: {
            /** @description Requests that were answered or charged for. Refused ones are not counted. */
            requests: number;
            /** @description Calls that were paid, and answers that needed none. */
            posts: number;
            /** @description Calls with an unknown outcome. */
            unknowns: number;
            tokens: number;
            images: number;
            /** @description What was spent, with what is unknown. */
            usd: string;
            /** @description Of it: reserved for calls with an unknown outcome. */
            unknown_usd: string;
            /** @description Calls without a price. They are in no sum of dollars. */
            unpriced: number;
            /** @description Inputs that needed no call. */
            hits: number;
            /** @description What a call for them would have cost. */
            saved_usd: string;
        };
        SuspectVectorList: {
            data: components["schemas"]["SuspectVectors"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        SuspectVectors: {
            request_id: string;
            key: string;
            project: string;
            /**
             * Format: date-time
             * @description When Torana accepted the request.
             */
            at: string;
            /** @description Vectors of the window that it got. */
            inputs: number;
            batch: string | null;
            /** @description First and last line of each run in the file of the batch, from 1. null: it is no batch, or its results are gone. */
            lines: [
                number,
                number
            ][] | null;
        };
        SuspectWindow: {
            id: string;
            model: string;
            deployment: string;
            /** @description The own space of the model, which the deployment may have left. */
            space: string;
            /**
             * Format: date-time
             * @description The last good check of the deployment. Calls that ended up to 5 s before count too.
             */
            from: string;
            /** @description Its next good check, or the acceptance of another space. null: it is outside. */
            until: string | null;
            /** Format: date-time */
            found_at: string;
            /** @description Earlier requests may be missing from the list: the ledger of their days was dropped from the database. null: none is missing. */
            unlisted_before: string | null;
            /** @description Vectors that callers got. */
            vectors: number;
            /** @description Requests outside batches that got some of them. */
            requests: number;
            /** @description Keys whose requests or batches got some of them. */
            keys: number;
            /** @description Lines of batches that have ended. A batch in progress makes such lines again by itself. */
            batch_lines: number;
        };
        SuspectWindowList: {
            data: components["schemas"]["SuspectWindow"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
        };
        Tested: {
            /** @description `ok`, or the code of the fault. */
            outcome: string;
            /** @description Of the upstream. null: it answered, or there was no answer. */
            status: number | null;
            reason: string | null;
            duration_ms: number;
            cost_usd: string | null;
            request_id: string;
        };
        Token: {
            name: string;
            /** @enum {string} */
            role: "developer" | "operator" | "admin";
            /** @description Of a developer: the projects that it sees. null: all. */
            projects: string[] | null;
            read_only: boolean;
            /** @description The last characters of the secret. */
            tail: string;
            created_by: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            last_used_at: string | null;
        };
        TokenList: {
            data: components["schemas"]["Token"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
        TokenWithSecret: {
            name: string;
            /** @enum {string} */
            role: "developer" | "operator" | "admin";
            /** @description Of a developer: the projects that it sees. null: all. */
            projects: string[] | null;
            read_only: boolean;
            /** @description The last characters of the secret. */
            tail: string;
            created_by: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            last_used_at: string | null;
            /** @description Shown once. */
            secret: string;
        };
        Unknown: {
            request_id: string;
            attempt: number;
            /** @description The id of the call that the upstream received. */
            call_id: string;
            project: string;
            key_id: string;
            model: string;
            deployment: string;
            images: number;
            /** @description What was asked for, such as `1 image, 1024×1024`. */
            what: string | null;
            /** @description Why its outcome is unknown. */
            reason: string;
            /** @description The node that made the call. */
            node: string;
            /** @description Counts as spent until the call is resolved. null: the model has no price. */
            reserved_usd: string | null;
            /** Format: date-time */
            requested_at: string;
            /** Format: date-time */
            written_at: string;
            /**
             * Format: date-time
             * @description When Torana posts it with the reserved amount, unless it is resolved before.
             */
            posted_at: string;
            resolved: {
                /** @enum {string} */
                action: "post" | "void";
                /** @description `system`: its record came late, or its time was over. */
                by: string;
                /** Format: date-time */
                at: string;
                note: string | null;
                /** @description What it cost after all. */
                cost_usd: string | null;
            } | null;
        };
        UnknownList: {
            data: components["schemas"]["Unknown"][];
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
            summary: {
                open: number;
                /** @description What is reserved for the open ones. */
                reserved_usd: string;
                /** @description In the last 30 days. */
                resolved: number;
            };
        };
        Upload: {
            id: string;
            /** @constant */
            object: "upload";
            bytes: number;
            created_at: number;
            /** @description Unix seconds: until then it takes parts. */
            expires_at: number;
            filename: string;
            /** @constant */
            purpose: "batch";
            /** @enum {string} */
            status: "pending" | "completed" | "cancelled";
            file: components["schemas"]["File"] | null;
        };
        UploadPart: {
            id: string;
            /** @constant */
            object: "upload.part";
            created_at: number;
            upload_id: string;
        };
        Upstream: {
            /**
             * @description `configuration`: declared in torana.yaml. Only what the store manages can be changed here.
             * @enum {string}
             */
            managed_by: "configuration" | "store" | "built-in";
            /** @description `torana.yaml:88`. null: it has no line in the file. */
            managed_at: string | null;
            name: string;
            provider: string | null;
            dialect: string;
            /** @description Where calls go. */
            base_url: string;
            credential: {
                /** @enum {string} */
                source: "configuration" | "store" | "none";
                /** @description The last characters of a stored secret. */
                tail: string | null;
                updated_at: string | null;
            };
            /** @description Ids of what runs on it. */
            deployments: string[];
            /** @description Models that run on it. */
            models: number;
            source: components["schemas"]["Source"];
            /** @description Of the object in the store, for `base` of a change. null: it is declared. */
            revision: string | null;
            /** @description The object in the store, as in torana.yaml. */
            entry: {
                [key: string]: unknown;
            } | null;
            state: components["schemas"]["UpstreamState"];
            /** @description When a call or a probe last showed its state. */
            last_check_at: string | null;
        };
        /**
         * @example {
         *       "secret": "sk-…"
         *     }
         */
        UpstreamChangeInput: {
            /** @description Another address drops the stored secret, unless a new one comes with it. */
            base_url?: string;
            api_version?: string;
            /** @description Amazon Bedrock. Another region drops the stored secret, as another address does. */
            region?: string;
            /** @description null: forget it. */
            secret?: string | null;
        };
        UpstreamList: {
            data: components["schemas"]["Upstream"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
        };
        /**
         * @example {
         *       "provider": "openai",
         *       "secret": "sk-…"
         *     }
         */
        UpstreamQuestionInput: {
            /** @description A provider that Torana knows. Absent: an OpenAI-compatible server. */
            provider?: string;
            /** @description Default: the provider's published address. */
            base_url?: string;
            /** @description Azure. Default `v1`. */
            api_version?: string;
            /** @description Amazon Bedrock. */
            region?: string;
            /** @description Google Vertex AI. */
            project?: string;
            /** @description Google Vertex AI. */
            location?: string;
            /** @description Instead of all others: one that exists, with its own credential. */
            upstream?: string;
            /** @description Kept sealed, sent to the upstream alone, never shown again. */
            secret?: string;
        };
        UpstreamState: {
            /**
             * @description The worst of its deployments on any node. `unused`: no model runs on it.
             * @enum {string}
             */
            kind: "healthy" | "limited" | "space_failed" | "rejected" | "unreachable" | "unused";
            since: string | null;
            /** @description When it is probed or called again. */
            retry_at: string | null;
            /** @description Of its last failed answer. */
            status: number | null;
        };
        Usage: {
            /** @enum {string} */
            slot: "hour" | "day";
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            data: {
                group: string;
                total: components["schemas"]["Sum"];
                before: components["schemas"]["Sum"] | null;
                slots: {
                    /** @description Requests that were answered or charged for. Refused ones are not counted. */
                    requests: number;
                    /** @description Calls that were paid, and answers that needed none. */
                    posts: number;
                    /** @description Calls with an unknown outcome. */
                    unknowns: number;
                    tokens: number;
                    images: number;
                    /** @description What was spent, with what is unknown. */
                    usd: string;
                    /** @description Of it: reserved for calls with an unknown outcome. */
                    unknown_usd: string;
                    /** @description Calls without a price. They are in no sum of dollars. */
                    unpriced: number;
                    /** @description Inputs that needed no call. */
                    hits: number;
                    /** @description What a call for them would have cost. */
                    saved_usd: string;
                    /** Format: date-time */
                    at: string;
                }[];
            }[];
            /** @description All groups that are not in `data`. */
            others: {
                groups: number;
                total: components["schemas"]["Sum"];
                before: components["schemas"]["Sum"] | null;
                slots: {
                    /** @description Requests that were answered or charged for. Refused ones are not counted. */
                    requests: number;
                    /** @description Calls that were paid, and answers that needed none. */
                    posts: number;
                    /** @description Calls with an unknown outcome. */
                    unknowns: number;
                    tokens: number;
                    images: number;
                    /** @description What was spent, with what is unknown. */
                    usd: string;
                    /** @description Of it: reserved for calls with an unknown outcome. */
                    unknown_usd: string;
                    /** @description Calls without a price. They are in no sum of dollars. */
                    unpriced: number;
                    /** @description Inputs that needed no call. */
                    hits: number;
                    /** @description What a call for them would have cost. */
                    saved_usd: string;
                    /** Format: date-time */
                    at: string;
                }[];
            } | null;
            /** @description By user or tag: calls with a value beyond the first 1000 of their project and day. null: there are none. */
            overflow: {
                total: components["schemas"]["Sum"];
                before: components["schemas"]["Sum"] | null;
                slots: {
                    /** @description Requests that were answered or charged for. Refused ones are not counted. */
                    requests: number;
                    /** @description Calls that were paid, and answers that needed none. */
                    posts: number;
                    /** @description Calls with an unknown outcome. */
                    unknowns: number;
                    tokens: number;
                    images: number;
                    /** @description What was spent, with what is unknown. */
                    usd: string;
                    /** @description Of it: reserved for calls with an unknown outcome. */
                    unknown_usd: string;
                    /** @description Calls without a price. They are in no sum of dollars. */
                    unpriced: number;
                    /** @description Inputs that needed no call. */
                    hits: number;
                    /** @description What a call for them would have cost. */
                    saved_usd: string;
                    /** Format: date-time */
                    at: string;
                }[];
            } | null;
            /** @description By user or tag: calls that have none. null: there are none. */
            none: {
                total: components["schemas"]["Sum"];
                before: components["schemas"]["Sum"] | null;
                slots: {
                    /** @description Requests that were answered or charged for. Refused ones are not counted. */
                    requests: number;
                    /** @description Calls that were paid, and answers that needed none. */
                    posts: number;
                    /** @description Calls with an unknown outcome. */
                    unknowns: number;
                    tokens: number;
                    images: number;
                    /** @description What was spent, with what is unknown. */
                    usd: string;
                    /** @description Of it: reserved for calls with an unknown outcome. */
                    unknown_usd: string;
                    /** @description Calls without a price. They are in no sum of dollars. */
                    unpriced: number;
                    /** @description Inputs that needed no call. */
                    hits: number;
                    /** @description What a call for them would have cost. */
                    saved_usd: string;
                    /** Format: date-time */
                    at: string;
                }[];
            } | null;
            /** @description By tag: calls with a tag whose key is beyond the first 16 of their project and day. Where it is the key asked for, they are in `none`. null: there are none. */
            left_out_tags: components["schemas"]["Sum"] | null;
            /** @description Keys of tags that were used, of all projects asked for. */
            tag_keys: string[];
            total: components["schemas"]["Sum"];
            before: components["schemas"]["Sum"] | null;
            /** @description What every `before` sums up: the period of the same length before, up to the same hour if this one is not over. null: not asked for, or nothing of this period has passed. */
            before_span: {
                /** Format: date-time */
                from: string;
                /** Format: date-time */
                to: string;
            } | null;
            /** @description What this month will have cost at its end. null: there are fewer than three days to tell from. */
            forecast: {
                /** Format: date-time */
                until: string;
                /** @description US dollars, with nine decimals. */
                usd: string;
                /** @description US dollars, with nine decimals. */
                low_usd: string;
                /** @description US dollars, with nine decimals. */
                high_usd: string;
            } | null;
        };
        WebhookEvent: {
            id: string;
            project: string;
            type: string;
            /** @description Without its path, which is a secret at many receivers. */
            url: string;
            tries: number;
            /** Format: date-time */
            created_at: string;
            ended_at: string | null;
            /** @enum {string} */
            outcome: "sent" | "given-up" | "waiting";
        };
        WebhookEventList: {
            data: components["schemas"]["WebhookEvent"][];
            /** @description Ask again with `after` (or `before`) = the last entry of this page. */
            has_more: boolean;
            /** @description Ask again with `after` = this. null: this is the last page. */
            next: string | null;
        };
    };
    responses: {
        /** @description asset_gone */
        AssetGone: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description sign_on_failed, upstream_failed, upstream_unreachable, upstream_broken_answer, upstream_model_missing */
        BadGateway: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description invalid_json, malformed_request, missing_parameter, invalid_parameter */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description body_too_large */
        BodyTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description conflict, configuration_changed */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description forbidden, insecure_sign_in, wrong_origin */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description invalid_json, malformed_request, missing_parameter, invalid_parameter, invalid_input, empty_input, ambiguous_input, part_unsupported, parts_not_fusible, too_many_parts, invalid_media, media_too_large, media_unreachable, too_many_inputs, input_too_long, model_mismatch, unsupported_parameter, provenance_not_kept, request_not_splittable, upstream_refused, content_policy_violation, invalid_image_file, type_unsupported, unsupported_file_purpose, file_unreadable, upload_not_pending, upload_mismatch, too_many_files */
        GatewayBadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description project_deleted, model_not_allowed, scope_not_allowed, address_not_allowed, model_unpriced, asset_link_invalid, forbidden, insecure_sign_in, wrong_origin */
        GatewayForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description model_not_found, model_retired, not_found, unknown_path, link_invalid */
        GatewayNotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description too_many_files_at_once, disk_full, file_store_unreachable, upstream_rejected_us, key_store_unreachable, store_unreachable, image_store_unreachable, asset_store_unreachable, deployments_busy, no_healthy_deployment, deployments_drained, space_quarantined, space_unprobed, space_unknown, space_left, node_overloaded, node_starting, uploads_unwritable, image_files_lost, too_many_image_jobs, too_many_streams, too_many_exports, too_many_bodies, budget_store_unreachable, ledger_unavailable */
        GatewayServiceUnavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description too_many_wrong_keys, rate_limit_exceeded, too_many_calls_at_once, too_many_reads, too_many_batches, request_exceeds_rate_limit, budget_exhausted, budget_reserved, upstream_rate_limited, too_many_sign_ins */
        GatewayTooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description missing_api_key, invalid_api_key, key_expired, key_revoked, sign_in_failed, session_ended */
        GatewayUnauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description idempotency_key_reused */
        IdempotencyKeyReused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description internal_error */
        InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description not_found, unknown_path, link_invalid */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description outcome_unknown */
        OutcomeUnknown: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description body_too_large, file_too_large */
        PayloadTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description request_timeout */
        RequestTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description file_store_unreachable, key_store_unreachable, store_unreachable, asset_store_unreachable, node_overloaded, node_starting, too_many_streams, too_many_exports, too_many_bodies */
        ServiceUnavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description space_mismatch */
        SpaceMismatch: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description too_many_wrong_keys, too_many_reads, too_many_sign_ins */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description too_many_wrong_keys */
        TooManyWrongKeys: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description missing_api_key, invalid_api_key, sign_in_failed, session_ended */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description unsupported_media_type */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description upstream_timeout */
        UpstreamTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description wrong_host */
        WrongHost: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listProjects: {
        parameters: {
            query?: {
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createProject: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProjectInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedProject"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedProject"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                after?: string;
                limit?: number;
                project?: string;
                /** @description A part of the id, or the last characters of a secret. */
                q?: string;
                /** @description `tidy`: it needs cleanup. `revoked`: revoked, or past its end. */
                state?: "active" | "ending" | "tidy" | "revoked";
                /** @description `-used`: the last used first. `ends`: the next to end first. Keys of which there is nothing to tell come last. */
                sort?: "id" | "-used" | "ends";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createKey: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKeyInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyWithSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    revokeKey: {
        parameters: {
            query?: {
                /** @description A stranger may have its secret: batches that it began are cancelled, and its uploads dropped. Otherwise its batches pause, until a person continues or cancels them. Image jobs that wait for their turn end in either case. */
                leaked?: "true" | "false";
            };
            header?: never;
            path: {
                project: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotationInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyWithSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    endOverlap: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getLedger: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LedgerStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listRefusedRecords: {
        parameters: {
            query?: {
                project?: string;
                /** @description `next` of the previous page. */
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefusedRecordList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    retryRefusedRecords: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetriedRecords"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    resolve: {
        parameters: {
            query: {
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HitList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    playEmbeddings: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlaygroundEmbeddingsInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmbeddingAnswer"];
                };
            };
            400: components["responses"]["GatewayBadRequest"];
            401: components["responses"]["GatewayUnauthorized"];
            403: components["responses"]["GatewayForbidden"];
            404: components["responses"]["GatewayNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["SpaceMismatch"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            422: components["responses"]["IdempotencyKeyReused"];
            424: components["responses"]["OutcomeUnknown"];
            429: components["responses"]["GatewayTooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["GatewayServiceUnavailable"];
            504: components["responses"]["UpstreamTimeout"];
        };
    };
    playImages: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlaygroundImagesInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageAnswer"];
                };
            };
            400: components["responses"]["GatewayBadRequest"];
            401: components["responses"]["GatewayUnauthorized"];
            403: components["responses"]["GatewayForbidden"];
            404: components["responses"]["GatewayNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["SpaceMismatch"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            422: components["responses"]["IdempotencyKeyReused"];
            424: components["responses"]["OutcomeUnknown"];
            429: components["responses"]["GatewayTooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["GatewayServiceUnavailable"];
            504: components["responses"]["UpstreamTimeout"];
        };
    };
    playEdits: {
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["PlaygroundEditsInput"];
                "application/json": components["schemas"]["PlaygroundEditsInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageAnswer"];
                };
            };
            400: components["responses"]["GatewayBadRequest"];
            401: components["responses"]["GatewayUnauthorized"];
            403: components["responses"]["GatewayForbidden"];
            404: components["responses"]["GatewayNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["SpaceMismatch"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            422: components["responses"]["IdempotencyKeyReused"];
            424: components["responses"]["OutcomeUnknown"];
            429: components["responses"]["GatewayTooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["GatewayServiceUnavailable"];
            504: components["responses"]["UpstreamTimeout"];
        };
    };
    playUpload: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlaygroundUploadInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
            400: components["responses"]["GatewayBadRequest"];
            401: components["responses"]["GatewayUnauthorized"];
            403: components["responses"]["GatewayForbidden"];
            404: components["responses"]["GatewayNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["SpaceMismatch"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            422: components["responses"]["IdempotencyKeyReused"];
            424: components["responses"]["OutcomeUnknown"];
            429: components["responses"]["GatewayTooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["GatewayServiceUnavailable"];
            504: components["responses"]["UpstreamTimeout"];
        };
    };
    playUploadPart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["PlaygroundUploadPartInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadPart"];
                };
            };
            400: components["responses"]["GatewayBadRequest"];
            401: components["responses"]["GatewayUnauthorized"];
            403: components["responses"]["GatewayForbidden"];
            404: components["responses"]["GatewayNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["SpaceMismatch"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            422: components["responses"]["IdempotencyKeyReused"];
            424: components["responses"]["OutcomeUnknown"];
            429: components["responses"]["GatewayTooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["GatewayServiceUnavailable"];
            504: components["responses"]["UpstreamTimeout"];
        };
    };
    playUploadCompletion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlaygroundUploadCompletionInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
            400: components["responses"]["GatewayBadRequest"];
            401: components["responses"]["GatewayUnauthorized"];
            403: components["responses"]["GatewayForbidden"];
            404: components["responses"]["GatewayNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["SpaceMismatch"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            422: components["responses"]["IdempotencyKeyReused"];
            424: components["responses"]["OutcomeUnknown"];
            429: components["responses"]["GatewayTooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["GatewayServiceUnavailable"];
            504: components["responses"]["UpstreamTimeout"];
        };
    };
    playUploadCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlaygroundUploadCancelInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
            400: components["responses"]["GatewayBadRequest"];
            401: components["responses"]["GatewayUnauthorized"];
            403: components["responses"]["GatewayForbidden"];
            404: components["responses"]["GatewayNotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["SpaceMismatch"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            422: components["responses"]["IdempotencyKeyReused"];
            424: components["responses"]["OutcomeUnknown"];
            429: components["responses"]["GatewayTooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["GatewayServiceUnavailable"];
            504: components["responses"]["UpstreamTimeout"];
        };
    };
    listWebhookEvents: {
        parameters: {
            query?: {
                project?: string;
                outcome?: "sent" | "given-up" | "waiting";
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEventList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listCredentials: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    putCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                upstream: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCredentialInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    alertSummary: {
        parameters: {
            query?: {
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertSummary"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listAlertIncidents: {
        parameters: {
            query?: {
                project?: string;
                state?: "open" | "resolved";
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertIncidentList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getAlertIncident: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertIncidentDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    previewAlert: {
        parameters: {
            query?: {
                kind?: components["schemas"]["AlertKindInput"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertPreview"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyWrongKeys"];
        };
    };
    muteAlerts: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertMuteInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MutedAlerts"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listAlertRules: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createAlertRule: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAlertRuleInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changeAlertRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRuleChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listAlertChannels: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannelList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createAlertChannel: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAlertChannelInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeAlertChannel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteAlertChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changeAlertChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertChannelChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    retryAlertChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    testAlertChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDelivery"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                actor?: string;
                /** @description Such as `key.revoke`. */
                action?: string;
                target?: string;
                from?: string;
                /** @description The first moment that is not in it. */
                to?: string;
                before?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    exportAudit: {
        parameters: {
            query?: {
                actor?: string;
                /** @description Such as `key.revoke`. */
                action?: string;
                target?: string;
                from?: string;
                /** @description The first moment that is not in it. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One entry a line, as `AuditEntry`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getSession: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    signIn: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInInput"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyWrongKeys"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    signOut: {
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getSignInOptions: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInOptions"];
                };
            };
            400: components["responses"]["BadRequest"];
            421: components["responses"]["WrongHost"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    firstRun: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirstRunInput"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    signOutEverywhere: {
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changePassword: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChangeInput"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    beginSignOn: {
        parameters: {
            query?: {
                /** @description The page of the console to go to afterwards. */
                return?: string;
                /** @description Only to look: of `POST /sign-on/test`. */
                test?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the identity provider, or to the sign-in page with a `problem`. */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            421: components["responses"]["WrongHost"];
        };
    };
    endSignOn: {
        requestBody?: never;
        responses: {
            /** @description To the page that was asked for, with the cookie of the session. */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            421: components["responses"]["WrongHost"];
        };
    };
    listMembers: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    endSessions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listInvitations: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    invite: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvitationInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    withdrawInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                email: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    lookAtInvitation: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationTokenInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    acceptInvitation: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptanceInput"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getSignOn: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignOn"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    putSignOn: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignOnChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignOn"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    dropSignOn: {
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    testSignOn: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignOnTest"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listTokens: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createToken: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTokenInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenWithSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getSettings: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listNodes: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    endNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndingInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ended"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    doctor: {
        parameters: {
            query?: {
                /** @description How many hours of the ledger to add up again. */
                hours?: "all" | number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DoctorReport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyWrongKeys"];
        };
    };
    makeBackup: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackupInputInput"];
            };
        };
        responses: {
            /** @description The file, streamed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    exportUsage: {
        parameters: {
            query?: {
                /** @description Default: 30 days before `to`. Made the beginning of an hour or a day. */
                from?: string;
                /** @description Default: now. Made the end of an hour or a day, in UTC. */
                to?: string;
                /** @description `model`, `deployment`, `project`, `key`, `user`, or `tag:` and the key of a tag, such as `tag:team`. */
                by?: string;
                /** @description Such as `model:gpt-image-2`, `user:alice` or `tag:team:red`. Repeat it: names of one kind are alternatives, kinds must all fit. Users and tags are counted one by one, so a question names one of them. */
                only?: string | string[];
                project?: string;
                /** @description `groups`: a row for each group and day. `ledger`: every entry. */
                rows?: "groups" | "ledger";
                format?: "csv" | "ndjson";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description CSV or NDJSON, streamed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /** @description Default: 30 days before `to`. Made the beginning of an hour or a day. */
                from?: string;
                /** @description Default: now. Made the end of an hour or a day, in UTC. */
                to?: string;
                /** @description `model`, `deployment`, `project`, `key`, `user`, or `tag:` and the key of a tag, such as `tag:team`. */
                by?: string;
                /** @description Such as `model:gpt-image-2`, `user:alice` or `tag:team:red`. Repeat it: names of one kind are alternatives, kinds must all fit. Users and tags are counted one by one, so a question names one of them. */
                only?: string | string[];
                project?: string;
                /** @description Default: hours up to 48 of them, days otherwise. */
                slot?: "hour" | "day";
                /** @description 1: also the sums of the period before, as far as this one has come. */
                before?: "0" | "1";
                /** @description Maximum of groups that are listed, the most expensive first. All others are one sum, in `others`. */
                groups?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listBudgets: {
        parameters: {
            query?: {
                project?: string;
                scope?: "project" | "key";
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getBudget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string & (unknown & unknown);
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    budgetSeries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string & (unknown & unknown);
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetSeries"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listUnknowns: {
        parameters: {
            query?: {
                /** @description Open ones come oldest first, resolved ones of 30 days newest first. */
                state?: "open" | "resolved";
                project?: string;
                /** @description `next` of the previous page. */
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnknownList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    resolveUnknown: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: string;
                attempt: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolutionInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Resolved"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listPrices: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setPrice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GivenPriceInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedPrice"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    forgetPrice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedPrice"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listPriceChanges: {
        parameters: {
            query?: {
                /** @description Default: 30 days before `to`. */
                from?: string;
                /** @description Default: now. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceChangeList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getCatalog: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Catalog"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    routingOfModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id or an alias; `/` is written `%2F`. */
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Routing"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    previewConfiguration: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfigurationChangesInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationPreview"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listConfigurationChanges: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigurationHistory"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changeConfiguration: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfigurationChangesInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedConfigurationChange"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    reverseOfChange: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Another one after every change of the object. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReverseChanges"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    revertChange: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Another one after every change of the object. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedConfigurationChange"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    exportConfiguration: {
        requestBody?: never;
        responses: {
            /** @description `torana.yaml`, as `application/yaml`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listSpaces: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpaceList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    spaceSeries: {
        parameters: {
            query?: {
                /** @description Default: the oldest there is. */
                since?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Its id or an alias; `/` is written `%2F`. */
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpaceSeries"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    spaceSlots: {
        parameters: {
            query?: {
                /** @description Default: the oldest there is. */
                since?: string;
                slot_seconds?: number;
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Its id or an alias; `/` is written `%2F`. */
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpaceSlotList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    acceptSpace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id or an alias; `/` is written `%2F`. */
                model: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SpaceAcceptanceInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Space"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    probeSpace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id or an alias; `/` is written `%2F`. */
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpaceProbeList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listSuspectWindows: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuspectWindowList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listSuspectVectors: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuspectVectorList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    events: {
        parameters: {
            query: {
                /** @description Names, separated by commas. */
                topics: string;
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description `text/event-stream` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    overview: {
        parameters: {
            query?: {
                /** @description Default: an hour before `until`. A month is kept. */
                since?: string;
                /** @description The first moment that is not in `series`. Default: now. */
                until?: string;
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listDeployments: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `/` is written `%2F`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deploymentHistory: {
        parameters: {
            query?: {
                /** @description Default: a day before `until`. Two weeks are kept. */
                since?: string;
                /** @description The first moment that is not in it. Default: now. */
                until?: string;
            };
            header?: never;
            path: {
                /** @description `/` is written `%2F`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeploymentHistory"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    testDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `/` is written `%2F`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeploymentTestInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tested"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    drainDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `/` is written `%2F`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DrainingInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DrainedDeployment"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listModels: {
        parameters: {
            query?: {
                kind?: "embedding" | "image";
                /** @description A part of an id, an alias or the name of an upstream. */
                q?: string;
                /** @description Repeatable: what it must be able to do. */
                can?: string | string[];
                upstream?: string;
                /** @description `ill`: a deployment of it is not healthy. */
                health?: "well" | "ill";
                /** @description Only models that its keys may use. */
                project?: string;
                sort?: "requests" | "name" | "p95" | "price";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelRowList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    addModels: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewModelsInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelRow"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id or an alias; `/` is written `%2F`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id or an alias; `/` is written `%2F`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /** @description Default: one hour before `to`. */
                from?: string;
                /** @description The first moment that is not in it. Default: now. */
                to?: string;
                project?: string;
                key?: string[];
                model?: string[];
                deployment?: string;
                kind?: ("embedding" | "generation" | "edit")[];
                /** @description `callers`: requests whose caller waits. `batches`: lines of batches. */
                source?: "callers" | "batches";
                outcome?: ("answered" | "refused" | "limited" | "failed" | "unknown")[];
                status?: number;
                fault?: string[];
                slower_ms?: number;
                dearer_usd?: number | string;
                /** @description Minimum of calls to upstreams. */
                tries?: number;
                /** @description The caller's own id of the request. */
                client?: string;
                /** @description The address of the client. */
                address?: string;
                /** @description The application's own user, as the caller sent it. */
                user?: string;
                /** @description Such as `team:red`. Repeat it: all of them must fit. */
                tag?: (string & (unknown & unknown))[];
                sort?: "-at" | "-duration" | "-cost";
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    requestHistogram: {
        parameters: {
            query?: {
                /** @description Default: one hour before `to`. */
                from?: string;
                /** @description The first moment that is not in it. Default: now. */
                to?: string;
                project?: string;
                key?: string[];
                model?: string[];
                deployment?: string;
                kind?: ("embedding" | "generation" | "edit")[];
                /** @description `callers`: requests whose caller waits. `batches`: lines of batches. */
                source?: "callers" | "batches";
                outcome?: ("answered" | "refused" | "limited" | "failed" | "unknown")[];
                status?: number;
                fault?: string[];
                slower_ms?: number;
                dearer_usd?: number | string;
                /** @description Minimum of calls to upstreams. */
                tries?: number;
                /** @description The caller's own id of the request. */
                client?: string;
                /** @description The address of the client. */
                address?: string;
                /** @description The application's own user, as the caller sent it. */
                user?: string;
                /** @description Such as `team:red`. Repeat it: all of them must fit. */
                tag?: (string & (unknown & unknown))[];
                slots?: number;
                facets?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Histogram"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestDetail"] | components["schemas"]["ForgottenRequest"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listImageJobs: {
        parameters: {
            query?: {
                /** @description Only those that this member made in the playground. */
                mine?: "true" | "false";
                project?: string;
                model?: string;
                status?: "queued" | "running" | "succeeded" | "failed" | "unknown";
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportedImageJobList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    assetContent: {
        parameters: {
            query?: {
                /** @description A WebP copy at most so wide, of at most 40 KB. */
                width?: "104" | "208" | "416";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The picture. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["AssetGone"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listBatches: {
        parameters: {
            query?: {
                project?: string;
                /** @description `open`: those that have not ended. */
                state?: "open" | "in_progress" | "cancelling" | "completed" | "failed" | "expired" | "cancelled";
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportedBatchList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createBatch: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBatchInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportedBatch"];
                };
            };
            400: components["responses"]["GatewayBadRequest"];
            401: components["responses"]["GatewayUnauthorized"];
            403: components["responses"]["GatewayForbidden"];
            404: components["responses"]["GatewayNotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["GatewayTooManyRequests"];
            503: components["responses"]["GatewayServiceUnavailable"];
        };
    };
    getBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportedBatchDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    cancelBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportedBatch"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    continueBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportedBatch"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    pauseBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchPauseRequestInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportedBatch"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    resumeBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportedBatch"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    batchOutput: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description JSON lines. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    batchErrors: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description JSON lines. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listProviders: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyWrongKeys"];
        };
    };
    listUpstreams: {
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpstreamList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createUpstream: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUpstreamInput"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedUpstream"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    checkUpstream: {
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpstreamQuestionInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Checked"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteUpstream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changeUpstream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpstreamChangeInput"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedUpstream"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["WrongHost"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
}
