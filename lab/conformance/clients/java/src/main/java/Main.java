import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.Headers;
import com.openai.errors.OpenAIServiceException;

/**
 * openai-java: reads {cases, …} from standard input, answers each case with one JSON line. The argument `images` asks for
 * pictures, none for vectors.
 */
public final class Main {
    static final JsonMapper JSON = new JsonMapper();

    public static void main(String[] arguments) throws Exception {
        JsonNode work = JSON.readTree(System.in);
        boolean forPictures = arguments.length > 0 && arguments[0].equals("images");
        for (JsonNode question : work.get("cases")) {
            ObjectNode line = JSON.createObjectNode().put("case", question.get("name").asText()).put("ok", true);
            OpenAIClient client = clientFor(question);
            try {
                if (forPictures) Pictures.answer(client, question, line);
                else Vectors.answer(client, question, work.get("lists").get(question.get("inputs").asText()), line);
            } catch (Exception error) {
                // Whatever it is, the user of the library would see it.
                line = JSON.createObjectNode().put("case", question.get("name").asText()).put("ok", false);
                line.set("error", describe(error));
            } finally {
                client.close();
            }
            System.out.println(JSON.writeValueAsString(line));
        }
        // Threads of the library's HTTP client live on for a minute.
        System.exit(0);
    }

    private static OpenAIClient clientFor(JsonNode question) {
        OpenAIOkHttpClient.Builder builder = OpenAIOkHttpClient.builder()
                .baseUrl(question.get("baseUrl").asText())
                .apiKey(question.get("apiKey").asText());
        if (!question.path("retries").asBoolean()) builder.maxRetries(0);
        return builder.build();
    }

    /** What a user of openai-java can read off an error. */
    private static ObjectNode describe(Exception error) {
        ObjectNode described = JSON.createObjectNode()
                .put("class", error.getClass().getSimpleName())
                .put("message", String.valueOf(error.getMessage()));
        if (error instanceof OpenAIServiceException service) {
            described.put("status", service.statusCode());
            service.code().ifPresent(code -> described.put("code", code));
            putHeader(described, "requestId", service.headers(), "x-request-id");
            putHeader(described, "retryAfter", service.headers(), "retry-after");
            putHeader(described, "shouldRetry", service.headers(), "x-should-retry");
        }
        return described;
    }

    private static void putHeader(ObjectNode described, String name, Headers headers, String header) {
        headers.values(header).stream().findFirst().ifPresent(value -> described.put(name, value));
    }
}
