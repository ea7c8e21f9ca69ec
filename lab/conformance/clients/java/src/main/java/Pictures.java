import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.openai.client.OpenAIClient;
import com.openai.core.http.StreamResponse;
import com.openai.models.images.Image;
import com.openai.models.images.ImageEditParams;
import com.openai.models.images.ImageEditStreamEvent;
import com.openai.models.images.ImageGenStreamEvent;
import com.openai.models.images.ImageGenerateParams;
import com.openai.models.images.ImagesResponse;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;

/** `images().generate` and `images().edit`, and their streams. */
final class Pictures {
    static void answer(OpenAIClient client, JsonNode question, ObjectNode line) throws Exception {
        boolean streams = question.path("stream").asBoolean();
        if (question.has("edit")) {
            ImageEditParams parameters = Edits.parametersOf(question);
            if (streams) saveEdits(client.images().editStreaming(parameters), question, line);
            else save(client.images().edit(parameters), question, line);
        } else {
            ImageGenerateParams parameters = parametersOf(question);
            if (streams) saveGenerated(client.images().generateStreaming(parameters), question, line);
            else save(client.images().generate(parameters), question, line);
        }
    }

    private static ImageGenerateParams parametersOf(JsonNode question) {
        ImageGenerateParams.Builder parameters = ImageGenerateParams.builder()
                .model(question.get("model").asText())
                .prompt(question.get("prompt").asText());
        if (question.has("n")) parameters.n(question.get("n").asLong());
        if (question.has("size")) parameters.size(question.get("size").asText());
        if (question.has("partialImages")) parameters.partialImages(question.get("partialImages").asLong());
        if (question.has("responseFormat")) {
            parameters.responseFormat(ImageGenerateParams.ResponseFormat.of(question.get("responseFormat").asText()));
        }
        if (question.has("outputFormat")) {
            parameters.outputFormat(ImageGenerateParams.OutputFormat.of(question.get("outputFormat").asText()));
        }
        if (question.has("idempotencyKey")) {
            parameters.putAdditionalHeader("Idempotency-Key", question.get("idempotencyKey").asText());
        }
        return parameters.build();
    }

    private static void save(ImagesResponse answer, JsonNode question, ObjectNode line) throws Exception {
        answer.created();
        ArrayNode pictures = line.putArray("pictures");
        for (Image image : answer.data().orElseThrow()) {
            String file = question.get("saveAs").asText() + "-picture-" + pictures.size();
            if (image.url().isPresent()) {
                ObjectNode saved = save(fetched(image.url().get()), file);
                pictures.add(saved.put("url", image.url().get()));
            } else {
                pictures.add(save(Base64.getDecoder().decode(image.b64Json().orElseThrow()), file));
            }
        }
    }

    private static void saveGenerated(StreamResponse<ImageGenStreamEvent> answer, JsonNode question, ObjectNode line)
            throws Exception {
        List<String> pictures = new ArrayList<>();
        TreeMap<Long, String> previews = new TreeMap<>();
        try (answer) {
            answer.stream().forEach(event -> {
                if (event.isGenerationPartialImage()) {
                    var preview = event.asGenerationPartialImage();
                    // The library throws at a field that it was promised and did not get.
                    List.of(preview.createdAt(), preview.size(), preview.quality(), preview.background());
                    preview.outputFormat();
                    previews.put(preview.partialImageIndex(), preview.b64Json());
                } else {
                    var completed = event.asGenerationCompleted();
                    List.of(completed.createdAt(), completed.size(), completed.quality(), completed.background());
                    List.of(completed.outputFormat(), completed.usage().totalTokens());
                    pictures.add(completed.b64Json());
                }
            });
        }
        saveAll(pictures, List.copyOf(previews.values()), question, line);
    }

    private static void saveEdits(StreamResponse<ImageEditStreamEvent> answer, JsonNode question, ObjectNode line)
            throws Exception {
        List<String> pictures = new ArrayList<>();
        TreeMap<Long, String> previews = new TreeMap<>();
        try (answer) {
            answer.stream().forEach(event -> {
                if (event.isPartialImage()) {
                    var preview = event.asPartialImage();
                    List.of(preview.createdAt(), preview.size(), preview.quality(), preview.background());
                    preview.outputFormat();
                    previews.put(preview.partialImageIndex(), preview.b64Json());
                } else {
                    var completed = event.asCompleted();
                    List.of(completed.createdAt(), completed.size(), completed.quality(), completed.background());
                    List.of(completed.outputFormat(), completed.usage().totalTokens());
                    pictures.add(completed.b64Json());
                }
            });
        }
        saveAll(pictures, List.copyOf(previews.values()), question, line);
    }

    private static void saveAll(List<String> pictures, List<String> previews, JsonNode question, ObjectNode line)
            throws Exception {
        String saveAs = question.get("saveAs").asText();
        ArrayNode saved = line.putArray("pictures");
        for (String picture : pictures) {
            saved.add(save(Base64.getDecoder().decode(picture), saveAs + "-picture-" + saved.size()));
        }
        ArrayNode early = line.putArray("previews");
        for (String preview : previews) {
            early.add(save(Base64.getDecoder().decode(preview), saveAs + "-preview-" + early.size()));
        }
    }

    private static ObjectNode save(byte[] content, String file) throws Exception {
        Files.write(Path.of(file), content);
        String sum = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        return Main.JSON.createObjectNode().put("file", file).put("sha256", sum);
    }

    /** As a browser would, without a key. */
    private static byte[] fetched(String url) throws Exception {
        try (InputStream content = URI.create(url).toURL().openStream()) {
            return content.readAllBytes();
        }
    }
}
