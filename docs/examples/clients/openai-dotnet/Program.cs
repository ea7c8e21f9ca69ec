using System.ClientModel;
using OpenAI;
using OpenAI.Embeddings;
using OpenAI.Images;

var key = new ApiKeyCredential(Environment.GetEnvironmentVariable("TORANA_KEY")!);
var options = new OpenAIClientOptions { Endpoint = new Uri(Environment.GetEnvironmentVariable("TORANA_BASE_URL")!) };

var embeddings = new EmbeddingClient("demo-embed", key, options);
var vectors = embeddings.GenerateEmbeddings(["cat", "kitten", "car"]).Value;
Console.WriteLine($"{vectors.Count} vectors of {vectors[0].ToFloats().Length}");

var images = new ImageClient("demo-image", key, options);
File.WriteAllBytes("lighthouse.png", images.GenerateImage("a lighthouse in the fog").Value.ImageBytes.ToArray());
