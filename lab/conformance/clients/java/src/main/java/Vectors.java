import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.openai.client.OpenAIClient;
import com.openai.models.embeddings.CreateEmbeddingResponse;
import com.openai.models.embeddings.Embedding;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.embeddings.EmbeddingCreateParams.Input;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** `embeddings().create`, which asks for base64. */
final class Vectors {
    static void answer(OpenAIClient client, JsonNode question, JsonNode list, ObjectNode line) {
        EmbeddingCreateParams.Builder parameters = EmbeddingCreateParams.builder()
                .model(question.get("model").asText())
                .input(question.path("single").asBoolean() ? single(list.get(0)) : several(list));
        if (question.has("dimensions")) parameters.dimensions(question.get("dimensions").asLong());
        CreateEmbeddingResponse answer = client.embeddings().create(parameters.build());
        ArrayNode vectors = line.putArray("vectors");
        for (Embedding item : answer.data()) vectors.add(base64Of(item.embedding()));
        line.put("tokens", answer.usage().promptTokens());
    }

    /** A list holds texts or token arrays. */
    private static Input several(JsonNode list) {
        if (list.get(0).isArray()) {
            List<List<Long>> arrays = new ArrayList<>();
            for (JsonNode tokens : list) arrays.add(tokensOf(tokens));
            return Input.ofArrayOfTokenArrays(arrays);
        }
        List<String> texts = new ArrayList<>();
        for (JsonNode text : list) texts.add(text.asText());
        return Input.ofArrayOfStrings(texts);
    }

    private static Input single(JsonNode first) {
        return first.isArray() ? Input.ofArrayOfTokens(tokensOf(first)) : Input.ofString(first.asText());
    }

    private static List<Long> tokensOf(JsonNode array) {
        List<Long> tokens = new ArrayList<>();
        for (JsonNode token : array) tokens.add(token.asLong());
        return tokens;
    }

    /** Little-endian float32. */
    private static String base64Of(List<Float> values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.size() * 4).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) bytes.putFloat(value);
        return Base64.getEncoder().encodeToString(bytes.array());
    }
}
