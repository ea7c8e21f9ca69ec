import com.fasterxml.jackson.databind.JsonNode;
import com.openai.models.images.ImageEditParams;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Files in all the forms that openai-java takes. Several are always streams. */
final class Edits {
    static ImageEditParams parametersOf(JsonNode question) throws IOException {
        ImageEditParams.Builder parameters = ImageEditParams.builder()
                .model(question.get("model").asText())
                .prompt(question.get("prompt").asText());
        if (question.has("n")) parameters.n(question.get("n").asLong());
        if (question.has("size")) parameters.size(question.get("size").asText());
        if (question.has("partialImages")) parameters.partialImages(question.get("partialImages").asLong());
        if (question.has("outputFormat")) {
            parameters.outputFormat(ImageEditParams.OutputFormat.of(question.get("outputFormat").asText()));
        }
        if (question.has("idempotencyKey")) {
            parameters.putAdditionalHeader("Idempotency-Key", question.get("idempotencyKey").asText());
        }
        JsonNode edit = question.get("edit");
        String way = edit.get("giveAs").asText();
        JsonNode images = edit.get("images");
        if (images.size() == 1) giveOne(parameters, pathOf(images.get(0)), way);
        else giveSeveral(parameters, images, way);
        if (edit.has("mask")) giveMask(parameters, pathOf(edit.get("mask")), way);
        return parameters.build();
    }

    private static void giveOne(ImageEditParams.Builder parameters, Path file, String way) throws IOException {
        switch (way) {
            case "stream" -> parameters.image(Files.newInputStream(file));
            case "path" -> parameters.image(file);
            case "bytes" -> parameters.image(Files.readAllBytes(file));
            default -> throw new IllegalArgumentException("openai-java can't be handed a file as " + way);
        }
    }

    private static void giveSeveral(ImageEditParams.Builder parameters, JsonNode images, String way)
            throws IOException {
        List<InputStream> streams = new ArrayList<>();
        for (JsonNode image : images) {
            Path file = pathOf(image);
            streams.add(way.equals("bytes")
                    ? new ByteArrayInputStream(Files.readAllBytes(file))
                    : Files.newInputStream(file));
        }
        parameters.imageOfInputStreams(streams);
    }

    private static void giveMask(ImageEditParams.Builder parameters, Path file, String way) throws IOException {
        switch (way) {
            case "stream" -> parameters.mask(Files.newInputStream(file));
            case "path" -> parameters.mask(file);
            default -> parameters.mask(Files.readAllBytes(file));
        }
    }

    private static Path pathOf(JsonNode file) {
        return Path.of(file.get("file").asText());
    }
}
